"""The lines that a watch writes into logs."""

WATCH_PREFIX = b"skyrl-doctor watch: "
"""The start of the lines that the watch writes into a job's log: they mention failures, and report none."""


def is_watch_line(line: bytes) -> bool:
    """Whether the watch wrote the line."""
    return line.lstrip().startswith(WATCH_PREFIX)
