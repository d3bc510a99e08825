"""The agent server that is mounted into sandboxes: standard library only, Python 3.8 and later."""
