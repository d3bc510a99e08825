"""The files that a watch writes in the job directory, each atomically."""

import os

from skyrl_train.contracts import files
from skyrl_train.contracts.job_files import COMPLETE
from skyrl_train.contracts.job_files import COUNTS as COUNTS
from skyrl_train.contracts.job_files import SUMMARY as SUMMARY
from skyrl_train.contracts.verdict import FILE as VERDICT

EVENTS, STATE, PROM, LOG, LOCK = "events.jsonl", "watch.state.json", "health.prom", "watch.log", "watch.lock"
SIGNS = frozenset({"jobs.json", "launch.json", VERDICT, COMPLETE, STATE})
"""Files of a launch or of an earlier watch: a directory with one is a job's, and the watch may keep its state there."""


def is_job(directory: str) -> bool:
    """Whether a launch or a watch has made this directory a job's."""
    return any(os.path.lexists(os.path.join(directory, name)) for name in SIGNS)


def write_whole(path: str, text: str, *, durable: bool = True) -> None:
    """Replaces a file; an OSError leaves the old one. Characters that UTF-8 cannot encode become question marks."""
    files.write_whole(path, text.encode("utf-8", "replace").decode(), durable=durable)
