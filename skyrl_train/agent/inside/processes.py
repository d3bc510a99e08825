"""Starts the commands of the terminal, finds the processes of its session in /proc, and ends them by id.

The tools run in any image with the standard library alone, so this module has its own runner and parser of /proc/PID/stat
instead of `skyrl_train.process`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

_PR_SET_DUMPABLE = 4
_SESSION = 3  # of the fields after the name in /proc/PID/stat: state, parent, group, session


def start_in_terminal(
    argv: list[str], terminal: int, *, environ: dict[str, str], directory: str
) -> subprocess.Popen[bytes]:
    """Starts a command in a process group of its own, which gets the terminal."""
    return subprocess.Popen(
        argv,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=environ,
        cwd=directory,
        preexec_fn=_take_terminal,  # no threads here: safe
    )


def _take_terminal() -> None:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)


def session_members(session: int) -> list[int]:
    """All processes of a session except its leader. A process that called setsid has left the session."""
    names = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != session]
    return [int(name) for name in names if _fields(name)[_SESSION:][:1] == [str(session)]]


def _fields(pid: str) -> list[str]:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        return stat.read().rpartition(")")[2].split()
    return []


def end_session(session: int) -> None:
    """Kills the processes of a session, repeatedly, since they may start more meanwhile."""
    for _ in range(50):
        members = [pid for pid in session_members(session) if _fields(str(pid))[:1] != ["Z"]]
        if not members:
            return
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def run_program(argv: list[str], limit_s: float) -> subprocess.CompletedProcess[bytes] | None:
    """Runs a program of ours; None if it did not end in time."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, check=False)
    return None


def start_session(argv: list[str], *, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    """Starts a program in a session of its own, with its whole output on a pipe."""
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environ,
        start_new_session=True,
    )


def seal() -> None:
    """Keeps other processes of this user out of our memory and descriptors: no ptrace, and no /proc/PID/fd."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes  # some Pythons lack it

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def end_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def reap() -> None:
    """Reaps dead processes, since in a container this program may be process 1."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
