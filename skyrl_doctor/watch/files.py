"""The files that a watch keeps in the job's directory, and how they are written: whole or not at all."""

from skyrl_train.contracts import files
from skyrl_train.contracts.job_files import COUNTS as COUNTS
from skyrl_train.contracts.job_files import SUMMARY as SUMMARY

EVENTS, STATE, PROM, LOG, LOCK = "events.jsonl", "watch.state.json", "health.prom", "watch.log", "watch.lock"


def write_whole(path: str, text: str, *, durable: bool = True) -> None:
    """OSError leaves the old one. What no text can hold, out of names and logs, becomes a question mark."""
    files.write_whole(path, text.encode("utf-8", "replace").decode(), durable=durable)
