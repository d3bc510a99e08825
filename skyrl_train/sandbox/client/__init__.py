"""The trainer's side of the sandbox runtime: sessions, commands and files over HTTP, with every failure named.

Nothing here has a finaliser: what is opened is closed by its context manager, on every way out. FIX(RUN007)
"""
