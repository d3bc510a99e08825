"""Carries a policy's deed out: signals to processes, commands to Slurm. Never a shell, always a limit."""

import os
import signal
from collections.abc import Callable, Sequence

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.process import signal_group
from skyrl_doctor.watch.policy import Deed, Policy
from skyrl_train.contracts.proc_stat import ABSENT, parse_stat

LIMIT_S = 20.0
MOST_REASON = 200


@record
class Process:
    """A process and when it began: its number alone may be another's tomorrow."""

    pid: int
    began: str


@record(kw_only=True)
class Target:
    """Whom the policy acts upon: processes of this machine, or else a Slurm job."""

    processes: tuple[Process, ...] = ()
    job: str = ""

    @property
    def is_none(self) -> bool:
        return not self.processes and not self.job


def target(machine: Machine, pids: Sequence[int], job: str, policy: Policy) -> Target:
    """Whom the user named; UsageError where nobody can be stopped."""
    found = Target(processes=tuple(_process(machine, pid) for pid in pids), job=job)
    if policy is Policy.HOLD and not job:
        raise UsageError("--on-root hold wants --job N: only Slurm can hold a job")
    if policy is Policy.STOP and found.is_none:
        raise UsageError("--on-root stop wants --pid N or --job N: whom should it stop?")
    return found


def is_alive(machine: Machine, process: Process) -> bool:
    return _began(machine, process.pid) == process.began


def do(machine: Machine, deed: Deed, whom: Target, why: str, *, dry: bool) -> list[str]:
    """What was done, or what would be, in words."""
    said: list[str] = []
    if deed is not Deed.HOLD:
        number = signal.SIGTERM if deed is Deed.ASK else signal.SIGKILL
        said += [_signalled(machine, process, number, dry=dry) for process in whom.processes]
    if whom.job and (deed is Deed.HOLD or not whom.processes):
        said += [_ran(machine, argv, dry=dry) for argv in commands(deed, whom.job, why)]
    return said


def commands(deed: Deed, job: str, why: str) -> list[tuple[str, ...]]:
    """scancel's TERM goes to the job's steps, so that the batch script, and a watch in it, see their end."""
    if deed is Deed.ASK:
        return [("scancel", "--signal=TERM", job)]
    if deed is Deed.END:
        return [("scancel", job)]
    reason = " ".join(why.split())[:MOST_REASON].replace('"', "'")
    return [("scontrol", "update", f"JobId={job}", f"Comment=skyrl-doctor: {reason}"), ("scontrol", "requeuehold", job)]


def _signalled(machine: Machine, process: Process, number: signal.Signals, *, dry: bool) -> str:
    group = _own_group(process.pid)
    what = f"{number.name} to {'the process group' if group else 'process'} {process.pid}"
    if dry:
        return f"would send {what}"
    if not is_alive(machine, process):
        return f"process {process.pid} has ended by itself"
    send: Callable[[int, signal.Signals], None] = signal_group if group else os.kill
    try:
        send(process.pid, number)
    except OSError as error:
        return f"could not send {what}: {error.strerror}"
    return f"sent {what}"


def _own_group(pid: int) -> bool:
    """Whether the process leads a group of its own, and not the watch's."""
    try:
        return os.getpgid(pid) == pid and pid != os.getpgrp()
    except OSError:
        return False


def _ran(machine: Machine, argv: tuple[str, ...], *, dry: bool) -> str:
    shown = " ".join(argv)
    if dry:
        return f"would run {shown}"
    done = machine.run(argv, limit_s=LIMIT_S)
    return f"ran {shown}" if done.ok else f"could not run {shown}: {done.why}"


def _process(machine: Machine, pid: int) -> Process:
    if pid <= 1 or pid == os.getpid():
        raise UsageError(f"--pid {pid}: wanted a process of the job")
    began = _began(machine, pid)
    if began is None:
        raise UsageError(f"--pid {pid}: no such process here")
    return Process(pid, began)


def _began(machine: Machine, pid: int) -> str | None:
    """None for one that has ended."""
    try:
        found = parse_stat(machine.read(f"/proc/{pid}/stat"))
    except (CouldNotLook, ValueError):
        return None
    return None if found.started == ABSENT or found.is_dead else str(found.started)
