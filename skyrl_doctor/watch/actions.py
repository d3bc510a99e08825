"""Runs the actions of a policy: signals to processes, commands to Slurm. Never a shell, always a time limit."""

import os
import signal
from collections.abc import Callable, Sequence

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.process import signal_group
from skyrl_doctor.watch.policy import Action, Policy
from skyrl_train.contracts.proc_stat import ABSENT, parse_stat

LIMIT_S = 20.0
MOST_REASON = 200


@record
class Process:
    """A process and its start time: the number alone may belong to another process later."""

    pid: int
    began: str


@record(kw_only=True)
class Target:
    """What the policy acts on: processes of this machine, or a Slurm job."""

    processes: tuple[Process, ...] = ()
    job: str = ""

    @property
    def is_none(self) -> bool:
        return not self.processes and not self.job


def target(machine: Machine, pids: Sequence[int], job: str, policy: Policy) -> Target:
    """The processes and the job that the user named; UsageError where the policy needs one that is missing."""
    found = Target(processes=tuple(_process(machine, pid) for pid in pids), job=job)
    if policy is Policy.HOLD and not job:
        raise UsageError("--on-root hold needs --job N: only Slurm can hold a job")
    if policy is Policy.STOP and found.is_none:
        raise UsageError("--on-root stop needs --pid N or --job N: the process or job to stop")
    return found


def is_alive(machine: Machine, process: Process) -> bool:
    return _began(machine, process.pid) == process.began


def run(machine: Machine, action: Action, target: Target, why: str, *, dry: bool) -> list[str]:
    """Runs an action, or with `dry` only describes it. Returns a sentence for each signal and command."""
    done: list[str] = []
    if action is not Action.HOLD:
        number = signal.SIGTERM if action is Action.ASK else signal.SIGKILL
        done += [_signalled(machine, process, number, dry=dry) for process in target.processes]
    if target.job and (action is Action.HOLD or not target.processes):
        done += [_ran(machine, argv, dry=dry) for argv in commands(action, target.job, why)]
    return done


def commands(action: Action, job: str, why: str) -> list[tuple[str, ...]]:
    """The commands of an action. scancel sends TERM to the job's steps, so that the batch script sees their end."""
    if action is Action.ASK:
        return [("scancel", "--signal=TERM", job)]
    if action is Action.END:
        return [("scancel", job)]
    reason = " ".join(why.split())[:MOST_REASON].replace('"', "'")
    return [("scontrol", "update", f"JobId={job}", f"Comment=skyrl-doctor: {reason}"), ("scontrol", "requeuehold", job)]


def _signalled(machine: Machine, process: Process, number: signal.Signals, *, dry: bool) -> str:
    group = _own_group(process.pid)
    what = f"{number.name} to {'the process group' if group else 'process'} {process.pid}"
    if dry:
        return f"would send {what}"
    if not is_alive(machine, process):
        return f"process {process.pid} had already exited"
    send: Callable[[int, signal.Signals], None] = signal_group if group else os.kill
    try:
        send(process.pid, number)
    except OSError as error:
        return f"could not send {what}: {error.strerror}"
    return f"sent {what}"


def _own_group(pid: int) -> bool:
    """Whether the process leads a process group other than the watch's."""
    try:
        return os.getpgid(pid) == pid and pid != os.getpgrp()
    except OSError:
        return False


def _ran(machine: Machine, argv: tuple[str, ...], *, dry: bool) -> str:
    line = " ".join(argv)
    if dry:
        return f"would run {line}"
    done = machine.run(argv, limit_s=LIMIT_S)
    return f"ran {line}" if done.ok else f"could not run {line}: {done.why}"


def _process(machine: Machine, pid: int) -> Process:
    if pid <= 1 or pid == os.getpid():
        raise UsageError(f"--pid {pid} is not a process of the job")
    began = _began(machine, pid)
    if began is None:
        raise UsageError(f"--pid {pid}: no such process on this machine")
    return Process(pid, began)


def _began(machine: Machine, pid: int) -> str | None:
    """The start time in clock ticks after boot. None for a zombie, which has exited."""
    try:
        found = parse_stat(machine.read(f"/proc/{pid}/stat"))
    except (CouldNotLook, ValueError):
        return None
    return None if found.started == ABSENT or found.is_dead else str(found.started)
