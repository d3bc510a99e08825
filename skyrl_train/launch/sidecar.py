"""The doctor's watch beside the trainer's payload. Whatever becomes of it, the job goes on."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from skyrl_train.config.run import RunConfig
from skyrl_train.launch.child import end
from skyrl_train.launch.gate import DOCTOR
from skyrl_train.launch.role import Role

LOG = "watch.log"
GRACE_S = 10.0
POST_MORTEM_LIMIT_S = 120.0


def words(config: RunConfig, job_dir: str, jobs: Mapping[str, str]) -> tuple[str, ...]:
    """The watch's command line, by the configuration."""
    watch = config.watch
    named = {"--job": jobs.get(Role.TRAINER, ""), "--runtime-job": jobs.get(Role.RUNTIME, "")}
    return (
        sys.executable,
        *DOCTOR,
        "watch",
        job_dir,
        f"--on-root={watch.on_root}",
        f"--settle={watch.settle_s:g}",
        f"--grace={watch.grace_s:g}",
        f"--checkpoints={config.trainer.checkpoint_dir}",
        *(f"{option}={job_id}" for option, job_id in named.items() if job_id.isdigit()),
    )


@contextmanager
def watched(
    config: RunConfig, job_dir: str, jobs: Mapping[str, str], environ: Mapping[str, str]
) -> Iterator["subprocess.Popen[bytes] | None"]:
    """Runs the watch until the context ends; then it, or a last look, writes the summary."""
    if not config.watch.enabled:
        yield None
        return
    with open(os.path.join(job_dir, LOG), "ab") as log:
        sidecar = subprocess.Popen(
            words(config, job_dir, jobs),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield sidecar
        finally:
            end(sidecar, GRACE_S)


def post_mortem(config: RunConfig, job_dir: str) -> None:
    """summary.md, once both jobs have told their ends."""
    if not config.watch.enabled:
        return
    with open(os.path.join(job_dir, LOG), "ab") as log:
        try:
            subprocess.run(
                (sys.executable, *DOCTOR, "watch", job_dir, "--post-mortem"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=POST_MORTEM_LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            log.write(f"skyrl-train job: no summary: {error}\n".encode())
