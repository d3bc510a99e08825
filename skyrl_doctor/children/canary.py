"""Runs the trainer's command that starts a few sandboxes on a running runtime, uses them and removes them."""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import json
import runpy

COMMAND = "skyrl_train.sandbox.client.canary"
"""As `python -m` would run it. The doctor itself never imports it."""
HINT = "; " + sys.executable + " needs httpx, podman, prometheus-client, starlette and uvicorn"


def main():
    try:
        runpy.run_module(COMMAND, run_name="__main__", alter_sys=True)
    except ImportError as error:
        sys.stdout.write(json.dumps({"why": str(error) + HINT}) + "\n")
    except (OSError, UnicodeError) as error:
        sys.stdout.write(json.dumps({"why": str(error)}) + "\n")


main()
