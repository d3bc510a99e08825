"""The files that a watch writes in the job directory, each atomically."""

from skyrl_train.contracts import files
from skyrl_train.contracts.job_files import COUNTS as COUNTS
from skyrl_train.contracts.job_files import SUMMARY as SUMMARY

EVENTS, STATE, PROM, LOG, LOCK = "events.jsonl", "watch.state.json", "health.prom", "watch.log", "watch.lock"


def write_whole(path: str, text: str, *, durable: bool = True) -> None:
    """Replaces a file; an OSError leaves the old one. Characters that UTF-8 cannot encode become question marks."""
    files.write_whole(path, text.encode("utf-8", "replace").decode(), durable=durable)
