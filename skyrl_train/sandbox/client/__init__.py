"""The trainer's side of the sandbox runtime: sessions, commands and files over HTTP, and a cause for every failure.

Nothing here has a finaliser: context managers close what they open, on every way out. FIX(RUN007)
"""
