"""The files that a watch keeps in the job's directory, and how they are written: whole or not at all."""

import contextlib
import os

EVENTS, STATE, PROM, LOG, LOCK, SUMMARY = (
    "events.jsonl",
    "watch.state.json",
    "health.prom",
    "watch.log",
    "watch.lock",
    "summary.md",
)
COUNTS = "rollout_counts.jsonl"
"""Written by the trainer: one line a step, the JSON of its skyrl_train.agent.metrics.Counts."""


def write_whole(path: str, text: str, *, durable: bool = True) -> None:
    """By rename: a reader sees the old one or the new one. OSError leaves the old one, and no temporary file."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
