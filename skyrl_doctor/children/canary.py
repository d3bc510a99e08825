"""Starts a few sandboxes of its own on a running runtime, uses them, removes them, and says what it saw."""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import json


def main():
    try:
        from skyrl_train.sandbox.client.canary import main as fly
    except ImportError as error:
        sys.stdout.write(json.dumps({"why": str(error) + "; pip install 'skyrl-doctor[runtime]'"}) + "\n")
        return 0
    try:
        return fly(sys.argv[1:])
    except (OSError, UnicodeError) as error:
        sys.stdout.write(json.dumps({"why": str(error)}) + "\n")
        return 0


sys.exit(main())
