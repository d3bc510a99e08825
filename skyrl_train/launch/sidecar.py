"""The doctor's watch beside the trainer's payload. Whatever becomes of it, the job goes on."""

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
    """The watch's command line, by the configuration."""
    watch = config.watch
    named = {"--job": jobs.get(Role.TRAINER, ""), "--runtime-job": jobs.get(Role.RUNTIME, "")}
    return (
        sys.executable,
        *DOCTOR,
        "watch",
        job_dir,
        "--no-summary",
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
    """Runs the watch until the context ends. The summary is written once, when both jobs have ended: `post_mortem`."""
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
    """Nothing where there is no room for its log: the job needs no watch to run."""
    try:
        with open(os.path.join(job_dir, LOG), "ab") as log:
            return start(line, env=environ, stdout=log, stderr=log)
    except OSError as error:
        say(f"no watch: {error}")
        return None


def post_mortem(config: RunConfig, job_dir: str) -> None:
    """summary.md, once both jobs have told their ends."""
    if not config.watch.enabled:
        return
    try:
        with open(os.path.join(job_dir, LOG), "ab") as log:
            argv = (sys.executable, *DOCTOR, "watch", job_dir, "--post-mortem")
            done = run(argv, limit_s=POST_MORTEM_LIMIT_S, stdout=log, stderr=log)
    except OSError as error:
        say(f"no summary: {error}")
        return
    if done.timed_out:
        say(f"no summary: the doctor timed out after {POST_MORTEM_LIMIT_S:g} s")
