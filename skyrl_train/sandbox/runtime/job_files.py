"""The files in the job directory for the trainer's job: URL, key and, last, the flag (SLM004)."""

import contextlib
import os

from skyrl_train.contracts.job_files import KEY, READY, URL
from skyrl_train.sandbox.runtime.keys import write_private


def remove_stale(job_dir: str) -> None:
    """Runs before anything else: the flag of an earlier server would send the trainer to a dead port."""
    os.makedirs(job_dir, mode=0o700, exist_ok=True)
    for name in (READY, URL, KEY):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(job_dir, name))


def publish(job_dir: str, *, url: str, key: str) -> None:  # FIX(SLM004)
    """Writes each file by rename, the flag last: a reader that sees the flag finds the other two."""
    write_private(os.path.join(job_dir, KEY), f"{key}\n")
    write_private(os.path.join(job_dir, URL), f"{url}\n", 0o644)
    write_private(os.path.join(job_dir, READY), f"{url}\n", 0o644)


def withdraw(job_dir: str) -> None:
    """Removes the flag, so that no new client comes."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(job_dir, READY))
