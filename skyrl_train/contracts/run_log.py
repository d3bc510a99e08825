"""What a run says to whoever reads its log, in the one form that the doctor's watch and a person look for.

verl, vLLM and Ray set levels and handlers of Python's logging as they please: a line that must be seen goes past them.
"""

import sys

CAUSE = "error: "
"""What stands before the sentence that a run ends with: all else that is said is news of a run that goes on."""


def say(text: str) -> None:
    sys.stderr.write(f"skyrl-train train: {text}\n")
    sys.stderr.flush()


def say_cause(error: Exception) -> None:
    """Why the run ends."""
    say(f"{CAUSE}{error}")
