"""The tools that run inside a sandbox: a separate program, sent as one zip file, with requests on its standard input.

Standard library only, Python 3.8 and later, since it runs under the Python of an image.
"""
