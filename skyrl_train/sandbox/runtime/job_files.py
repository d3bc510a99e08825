"""What a server leaves in the job's directory for the trainer's job: URL, key, and last of all the flag (SLM004)."""

import contextlib
import os

from skyrl_train.contracts.job_files import KEY, READY, URL
from skyrl_train.sandbox.runtime.keys import write_private


def remove_stale(job_dir: str) -> None:
    """Before anything else: a flag of an earlier server would send the trainer to a port of nobody."""
    os.makedirs(job_dir, mode=0o700, exist_ok=True)
    for name in (READY, URL, KEY):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(job_dir, name))


def publish(job_dir: str, *, url: str, key: str) -> None:  # FIX(SLM004)
    """Each whole and one line, by rename; whoever sees the flag finds both others."""
    write_private(os.path.join(job_dir, KEY), f"{key}\n")
    write_private(os.path.join(job_dir, URL), f"{url}\n", 0o644)
    write_private(os.path.join(job_dir, READY), f"{url}\n", 0o644)


def withdraw(job_dir: str) -> None:
    """The first step of the end: nobody new comes."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(job_dir, READY))
