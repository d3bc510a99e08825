"""Writes the log lines of a run, in the form that the doctor's watch recognises.

verl, vLLM and Ray change the levels and handlers of Python's logging, so important lines bypass it.
"""

import sys

from skyrl_train.contracts.screen import print_note

CAUSE = "error: "
"""Prefix of the line with which a run ends. Lines without it are news of a running run."""


def say(text: str) -> None:
    print_note(f"skyrl-train train: {text}")
    sys.stderr.flush()


def say_cause(error: Exception) -> None:
    """Writes why the run ends."""
    say(f"{CAUSE}{error}")
