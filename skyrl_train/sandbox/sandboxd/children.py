"""Starts all processes, and reaps all of them, also orphans.

As the first process of a container sandboxd inherits every orphan. One thread waits for the next child to end, so that
none stays a zombie and none is waited for twice. sandboxd runs with the standard library alone, so it has its own runner
and does not use `skyrl_train.process`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading

_PR_SET_DUMPABLE = 4
_LOOK_AGAIN_S = 5.0
"""Checks without a child of ours: a process that the engine put into the container may leave orphans."""
_FIRST_TO_GO = b"500"
"""oom_score_adj of children: the kernel kills them before sandboxd, which can then report it."""
_NICE = 5
"""Priority of children: however many there are, sandboxd still runs and can kill them."""


class Child:
    """A process with its own session. `ended`: a file descriptor that reads end-of-file when it has ended."""

    __slots__ = ("_write_end", "done", "ended", "exit_code", "pid")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.exit_code = 0
        self.done = threading.Event()
        self.ended, self._write_end = os.pipe()

    def finish(self, status: int) -> None:
        """As in subprocess: a signal is a negative number."""
        self.exit_code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        self.done.set()
        os.close(self._write_end)

    def close(self) -> None:
        os.close(self.ended)


class Children:
    """All processes below this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = threading.Condition(self._lock)
        self._running: dict[int, Child] = {}

    def start_reaping(self) -> None:
        threading.Thread(target=self._reap, name="reaper", daemon=True).start()

    def spawn(self, argv: list[str], *, cwd: str | None, env: dict[str, str]) -> tuple[Child, int, int]:
        """Starts a process. Returns it with descriptors of its stdout and stderr, which the caller closes."""
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        try:
            child = self._spawn(argv, cwd=cwd, env=env, stdout=out_end, stderr=err_end)
        except BaseException:
            os.close(out)
            os.close(err)
            raise
        finally:
            os.close(out_end)
            os.close(err_end)
        return child, out, err

    def _spawn(self, argv: list[str], *, cwd: str | None, env: dict[str, str], stdout: int, stderr: int) -> Child:
        with self._started:  # so that no child ends unknown
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            process.returncode = 0  # it is reaped here: Popen is not to wait for it, nor to warn
            child = self._running[process.pid] = Child(process.pid)
            self._started.notify()
        _stand_back(process.pid)
        return child

    def signal(self, child: Child, number: int) -> None:
        """Signals its whole process group, including background processes."""
        with self._lock, contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)

    def end(self, child: Child, *, grace_s: float) -> None:
        """Sends SIGTERM, then SIGKILL to what is left."""
        self.signal(child, signal.SIGTERM)
        child.done.wait(grace_s)
        self.signal(child, signal.SIGKILL)
        child.done.wait(grace_s)

    def end_all(self, *, grace_s: float) -> None:
        with self._lock:
            children = list(self._running.values())
        for child in children:
            self.signal(child, signal.SIGTERM)
        for child in children:
            self.end(child, grace_s=grace_s)

    def _reap(self) -> None:
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                self._await_a_child()
                continue
            if found is not None:
                self._reap_one(found.si_pid)

    def _reap_one(self, pid: int) -> None:
        """Holds the lock, so that the id is not reused by a new child in between."""
        with self._lock:
            try:
                _, status = os.waitpid(pid, 0)
            except ChildProcessError:
                return
            child = self._running.pop(pid, None)
        if child is not None:
            child.finish(status)

    def _await_a_child(self) -> None:
        with self._started:
            if not self._running:
                self._started.wait(_LOOK_AGAIN_S)


def start_unwatched(argv: list[str]) -> int:
    """Starts a program with our own streams, environment and group; the caller reaps it. Raises OSError."""
    process = subprocess.Popen(argv)
    process.returncode = 0  # the caller reaps it: Popen is not to wait for it, nor to warn
    return process.pid


def seal() -> None:
    """Keeps processes of the same user out of our memory, keys and descriptors: no ptrace, and no /proc/PID/environ."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):  # some Pythons lack it
        _seal_by_group()


def _seal_by_group() -> None:
    """The kernel seals a process whose effective group changes. Only root may do so."""
    own = os.getegid()
    with contextlib.suppress(OSError):
        os.setegid(own + 1)
        os.setegid(own)


def _stand_back(pid: int) -> None:
    """Runs in the child: it gets a lower priority than sandboxd, so shortages hit it first."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + _NICE)
    try:
        file = os.open(f"/proc/{int(pid)}/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(file, _FIRST_TO_GO)
    except OSError:
        pass
    finally:
        os.close(file)
