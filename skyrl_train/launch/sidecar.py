"""Runs the doctor's watch next to the trainer. If the watch fails, the job continues."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from skyrl_train.checkpoints.places import checkpoint_root, work_dir_of
from skyrl_train.config.run import RunConfig
from skyrl_train.launch.gate import DOCTOR
from skyrl_train.launch.role import Role
from skyrl_train.launch.work import say
from skyrl_train.process import Child, run, start

LOG = "watch.log"
GRACE_S = 10.0
POST_MORTEM_LIMIT_S = 120.0


def words(config: RunConfig, job_dir: str, jobs: Mapping[str, str], logs: Sequence[str] = ()) -> tuple[str, ...]:
    """The command line of the watch."""
    watch = config.watch
    named = {"--job": jobs.get(Role.TRAINER, ""), "--runtime-job": jobs.get(Role.RUNTIME, "")}
    return (
        sys.executable,
        *DOCTOR,
        "watch",
        job_dir,
        "--no-summary",
        "--job-log=auto",
        f"--on-root={watch.on_root}",
        f"--settle={watch.settle_s:g}",
        f"--grace={watch.grace_s:g}",
        f"--checkpoints={checkpoint_root(config, work_dir_of(job_dir))}",
        *(f"--logs={path}" for path in logs),
        *(f"{option}={job_id}" for option, job_id in named.items() if job_id.isdigit()),
    )


@contextmanager
def watched(
    config: RunConfig, job_dir: str, jobs: Mapping[str, str], environ: Mapping[str, str], logs: Sequence[str] = ()
) -> Iterator[Child | None]:
    """Runs the watch until the context ends. `post_mortem` writes the summary later, when both jobs have ended."""
    if not config.watch.enabled:
        yield None
        return
    sidecar = _started(words(config, job_dir, jobs, logs), job_dir, environ)
    try:
        yield sidecar
    finally:
        if sidecar is not None:
            sidecar.end(GRACE_S)


def _started(line: tuple[str, ...], job_dir: str, environ: Mapping[str, str]) -> Child | None:
    """Starts the watch; None if it cannot start, since the job runs without it."""
    try:
        with open(os.path.join(job_dir, LOG), "ab") as log:
            return start(line, env=environ, stdout=log, stderr=log)
    except OSError as error:
        say(f"the watch was not started: {error}")
        return None


def post_mortem(config: RunConfig, job_dir: str) -> None:
    """Writes summary.md once both jobs have recorded their ends."""
    if not config.watch.enabled:
        return
    try:
        with open(os.path.join(job_dir, LOG), "ab") as log:
            argv = (sys.executable, *DOCTOR, "watch", job_dir, "--post-mortem")
            done = run(argv, limit_s=POST_MORTEM_LIMIT_S, stdout=log, stderr=log)
    except OSError as error:
        say(f"summary.md was not written: {error}")
        return
    if done.timed_out:
        say(f"summary.md was not written: the doctor timed out after {POST_MORTEM_LIMIT_S:g} s")
