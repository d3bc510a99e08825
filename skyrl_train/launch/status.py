"""The state of a launch, from its directory, Slurm, the runtime and the doctor."""

import os
import sys
import time
from collections.abc import Iterator

from skyrl_train.checkpoints import CheckpointError, last_good
from skyrl_train.checkpoints.places import checkpoint_root
from skyrl_train.contracts.agent.counts_file import survived_outages
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import PRIME_CONFIG, READY
from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.launch import commands, directory, gate, slurm
from skyrl_train.launch.marks import MARK, marked
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import responds, why_lost
from skyrl_train.process import run

DOCTOR_LIMIT_S = 30.0


def lines(job_dir: str) -> Iterator[str]:
    """The lines that `status` prints: one fact each, the jobs first."""
    launch = commands.read(job_dir)
    yield f"launch:   {job_dir}"
    for role in Role:
        if role is Role.TRAINER or launch.runtime_url is None:
            yield f"{f'{role}:':<9} {_job(job_dir, role, launch.ids.get(role))}"
            yield from (f"{'':<9} gate: {line}" for line in gate.error_lines(gate.report_path(role, job_dir)))
    if launch.runtime_url != commands.NO_RUNTIME:
        yield f"health:   {_health(job_dir, launch.runtime_url)}"
    if not os.path.exists(os.path.join(job_dir, PRIME_CONFIG)):  # prime-rl saves its own kind of checkpoints
        yield f"saved:    {_checkpoint(checkpoint_root(launch.config, launch.work_dir(job_dir)))}"
    if outages := survived_outages(job_dir):
        yield f"outages:  {outages}"
    yield f"doctor:   {_diagnosis(job_dir)}"


def _job(job_dir: str, role: Role, job_id: str | None) -> str:
    ended = directory.read_ended(job_dir, role)
    how = "" if ended is None else f", exited with status {ended.status}{f': {ended.reason}' if ended.reason else ''}"
    if job_id is None:
        return f"not submitted{how}"
    if job_id.startswith(directory.LOCAL):
        runs = int(job_id.partition(":")[2]) in marked({MARK: job_dir})  # and not another process that reused the id
        state = "is running" if runs else "has ended" if ended is None else ""
        return f"process {job_id.partition(':')[2]} {state}{how if state else how.removeprefix(', ')}"
    try:
        answer = slurm.state(job_id)
    except slurm.SlurmError as error:
        return f"job {job_id}, {error}{how}"
    reason = f" ({answer.reason})" if answer.reason not in ("", "None") else ""
    return f"job {job_id} {answer.state or 'is no longer known to Slurm'}{reason}{how}"


def _health(job_dir: str, external: str | None) -> str:
    try:
        url = external or directory.runtime_url(job_dir)
    except UsageError as error:
        return str(error)
    if external is None and _have_ended(job_dir):
        return "both jobs have ended"
    if url is None:
        return "the runtime is not ready yet"
    if responds(url):
        return f"the runtime at {url} answers"
    stale = "" if external else why_lost(job_dir, Role.RUNTIME)
    return f"the runtime at {url} does not answer" + (
        f"; SLM004: {READY} is from an earlier start, because {stale}" if stale else ""
    )


def _have_ended(job_dir: str) -> bool:
    return all(directory.read_ended(job_dir, role) is not None for role in Role)


def _checkpoint(root: str) -> str:
    """The checkpoint that a resume loads, and when it was saved."""
    try:
        last = last_good(root)
    except CheckpointError as error:
        return str(error)
    if last is None:
        return f"no complete checkpoint in {root}"
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(last.saved_at))
    return f"step {last.step} at {when}, {last.path}"


def _diagnosis(job_dir: str) -> str:
    words = (sys.executable, *gate.DOCTOR, "diagnose", job_dir, "--format", "json")
    try:
        done = run(words, limit_s=DOCTOR_LIMIT_S)
        if done.timed_out:
            return f"`skyrl-doctor diagnose` timed out after {DOCTOR_LIMIT_S:g} s"
        found = parse_object(done.text)
        if "root" not in [*found]:
            return "no diagnosis yet"
        root = found.inner_or_none("root")
        if root is None:
            return "no known failure in the logs"
        return f"{root.text('id')} {root.text('explain')} ({root.text('file')}:{root.integer('line')})"
    except (OSError, FormatError):
        return "no diagnosis yet"
