"""Runs both jobs as child processes without Slurm, with the same scripts, directory and gates."""

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import directory, leftovers
from skyrl_train.launch.directory import LOCAL
from skyrl_train.launch.marks import MARK, end_marked, marked, of_local_launches
from skyrl_train.launch.role import Role
from skyrl_train.launch.slurm import OF_THE_SITE
from skyrl_train.node.ray import ADDRESS, OWN_CLUSTER
from skyrl_train.process import Child, signal_group, start, wait_until

GRACE_S = 30.0


def run(job_dir: str, paths: Mapping[Role, str], stopped: Callable[[], bool], say: Callable[[str], None]) -> int:
    """Runs the jobs to their end; the trainer's exit status, or the runtime's if there is no trainer."""
    environ = {**os.environ, MARK: job_dir}
    environ[ADDRESS] = OWN_CLUSTER  # FIX(ENV009): without Slurm, Ray's directory is shared with other runs
    for name in [name for name in environ if name.startswith("SLURM_") and name not in OF_THE_SITE]:
        del environ[name]  # the jobs do not belong to the Slurm job in which this may run
    with ExitStack() as stack:
        stack.callback(_clear, job_dir, say)  # runs last
        children = {}
        for role, path in paths.items():
            children[role] = _started(job_dir, role, path, environ)
            stack.callback(children[role].end, GRACE_S)  # registered before anything waits for the process
        directory.write_jobs(job_dir, {role: f"{LOCAL}:{child.pid}" for role, child in children.items()})
        say(f"started {' and '.join(f'{role} as process {child.pid}' for role, child in children.items())}")
        last = children.get(Role.TRAINER) or children[Role.RUNTIME]
        while last.poll() is None and not stopped():
            wait_until(lambda: last.poll() is not None or stopped(), 1.0)
        if not stopped():  # the runtime sees that the trainer has ended, and ends by itself
            wait_until(lambda: all(child.poll() is not None for child in children.values()), GRACE_S)
    for role in paths:
        ended = directory.read_ended(job_dir, role)
        say(f"{role}: {(ended.reason or f'exit status {ended.status}') if ended else 'ended without a report'}")
    return last.status if last.status >= 0 else 128 - last.status


def _clear(job_dir: str, say: Callable[[str], None]) -> None:
    end_marked({MARK: job_dir}, GRACE_S)
    if of_local_launches():
        return  # another launch on this node uses the same directory
    for trouble in leftovers.clear([leftovers.node_directory(os.getuid(), None)]).troubles:
        say(trouble)


def stop(job_id: str, job_dir: str) -> bool:
    """Asks a local job to stop; whether it was running."""
    pid = int(job_id.partition(":")[2])
    return pid in marked({MARK: job_dir}) and signal_group(pid, signal.SIGTERM)


def _started(job_dir: str, role: Role, path: str, environ: Mapping[str, str]) -> Child:
    logs = [os.path.join(job_dir, directory.log(role, LOCAL, stream)) for stream in ("out", "err")]
    try:
        with open(logs[0], "ab") as out, open(logs[1], "ab") as err:
            return start(["/bin/bash", path], env=environ, stdout=out, stderr=err)
    except OSError as error:
        raise UsageError(f"cannot start the {role}: {error}") from None
