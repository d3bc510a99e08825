"""The question after the name of a file that does not exist: which file beside it was meant."""

import os
from collections.abc import Sequence

MAX_NAMES = 10_000


def did_you_mean(path: str) -> str:
    """`; did you mean NAME?` for the name beside a missing one that is nearly the same; empty if there is none."""
    directory, name = os.path.split(path.rstrip("/"))
    try:
        with os.scandir(directory or ".") as entries:
            names = [entry.name for _, entry in zip(range(MAX_NAMES), entries, strict=False)]
    except (OSError, ValueError):
        return ""
    return closest_beside(directory, name, names)


def missing_rollouts(path: str) -> str:
    """What is said of a place without transcripts that a user named and that does not exist."""
    return f"{path} does not exist{did_you_mean(path) or '; name a job directory or a file of transcripts'}"


def closest_beside(directory: str, name: str, names: Sequence[str]) -> str:
    import difflib  # only a mistyped name needs it

    close = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.8)
    return f"; did you mean {os.path.join(directory, close[0])}?" if close else ""
