"""The tools as they run in a sandbox: a program of its own, sent there as one zip file and asked over its standard input.

Standard library only, Python 3.8 and later: it runs under the interpreter that an image has.
"""
