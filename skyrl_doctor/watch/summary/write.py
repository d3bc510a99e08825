"""Writes summary.md into the directory of a job that is over."""

import os
from collections.abc import Callable

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.redact import Redactor
from skyrl_doctor.watch.files import SUMMARY, write_whole
from skyrl_doctor.watch.summary.gather import gather
from skyrl_doctor.watch.summary.nodes import failed_before
from skyrl_doctor.watch.summary.text import render


def write(job_dir: str, *, tell: Callable[[str], None]) -> bool:
    """Writes the summary. Returns whether it has a root cause."""
    story = gather(job_dir)
    before = failed_before(job_dir, story.node) if story.node else []
    path = os.path.join(job_dir, SUMMARY)
    try:
        write_whole(path, render(story, before, Redactor.of(os.environ)))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    tell(f"skyrl-doctor watch: wrote {path}")
    return story.diagnosis.root is not None or any(one.get("root") for one in story.events)
