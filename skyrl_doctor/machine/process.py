"""Runs commands: the one module of the doctor that starts processes and signals process groups.

No shell; time and output have limits; the whole process group ends with the command. Output is read until the command
ends, not until its pipes close: a grandchild may hold them for ever. The programs in `skyrl_doctor/children` run by
themselves in another interpreter; they are started here, and end with their group.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from skyrl_doctor.machine.queries import Completed

OUTPUT_CAP = 8 << 20
_LINGER_S = 0.05
_REAP_S = 1.0
_GRACE_S = 0.1
_STEP_S = 0.05


class Processes:
    """The commands in flight, so that a deadline can end them all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._live: dict[int, subprocess.Popen[bytes]] = {}
        self._closed = False

    def run(self, argv: Sequence[str], *, name: str, limit_s: float, env: Mapping[str, str]) -> Completed:
        try:
            process = self._start(argv, env)
        except (FileNotFoundError, NotADirectoryError):
            return Completed(command=name, found=False, limit_s=limit_s)
        except (OSError, ValueError) as error:
            return Completed(command=name, rc=126, err=f"cannot be run: {error}", limit_s=limit_s)
        try:
            collected = _Output(process, time.monotonic() + limit_s)
        finally:
            _end_group(process)
            with self._lock:
                self._live.pop(process.pid, None)
        return Completed(
            command=name,
            rc=None if collected.timed_out else process.returncode,
            out=collected.text(process.stdout),
            err=collected.text(process.stderr),
            timed_out=collected.timed_out,
            truncated=collected.truncated,
            limit_s=limit_s,
        )

    def kill_all(self) -> None:
        """Ends every command in flight; none starts after this."""
        with self._lock:
            self._closed = True
            live = list(self._live.values())
        _end_groups([process.pid for process in live])

    def _start(self, argv: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise OSError("the doctor is at its end")
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(env),
                start_new_session=True,
            )
            self._live[process.pid] = process
            return process


class Child:
    """A command whose output goes where the doctor's errors go, for a caller that waits for something else than its end."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Raises OSError."""
        self._process = subprocess.Popen(
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self, limit_s: float, *, until: Callable[[], bool] = lambda: False) -> bool:
        """Whether it ended, or the condition held, within the limit."""
        end_at = time.monotonic() + limit_s
        while not _has_ended(self.pid) and not until():
            if time.monotonic() >= end_at:
                return False
            time.sleep(_STEP_S)
        return True

    def end(self, *, finish_s: float, grace_s: float) -> int:
        """Gives it `finish_s` to end by itself, then ends the group: SIGTERM, SIGKILL after the grace. Its exit status."""
        if not self.wait(finish_s):
            _signal_group(self.pid, signal.SIGTERM)
            self.wait(grace_s)
        _end_group(self._process)
        return -signal.SIGKILL if self._process.returncode is None else self._process.returncode


class _Output:
    """Reads both pipes until the command has ended or its time is up."""

    def __init__(self, process: subprocess.Popen[bytes], until: float) -> None:
        self._parts: dict[object, list[bytes]] = {process.stdout: [], process.stderr: []}
        self._size = 0
        self.timed_out = False
        self.truncated = False
        with selectors.DefaultSelector() as selector:
            for pipe in (process.stdout, process.stderr):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ)
            self._collect(process, selector, until)
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()

    def text(self, pipe: object) -> str:
        return b"".join(self._parts[pipe]).decode("utf-8", "replace")

    def _collect(self, process: subprocess.Popen[bytes], selector: selectors.BaseSelector, until: float) -> None:
        while True:
            left_s = until - time.monotonic()
            if left_s <= 0:
                self.timed_out = True
                return
            ended = _has_ended(process.pid)
            ready = selector.select(0 if ended else min(left_s, _LINGER_S)) if selector.get_map() else []
            for key, _ in ready:
                self._take(key.fileobj, selector)
            if self.truncated or (ended and not ready):
                return
            if not selector.get_map() and not ended:
                time.sleep(min(left_s, 0.002))

    def _take(self, pipe: object, selector: selectors.BaseSelector) -> None:
        try:
            chunk = os.read(pipe.fileno(), 1 << 16)  # type: ignore[attr-defined]  # selectors types it as a bare object
        except BlockingIOError:
            return
        if not chunk:
            selector.unregister(pipe)  # type: ignore[arg-type]  # as above
            return
        self._parts[pipe].append(chunk)
        self._size += len(chunk)
        self.truncated = self._size > OUTPUT_CAP


def _has_ended(pid: int) -> bool:
    """Whether the process is dead, without reaping it: its pid, and so its group, stays ours to kill."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the group, then reaps. A process in a dead file system's hands is left to the kernel."""
    _end_groups([process.pid])
    try:
        process.wait(timeout=_REAP_S)
    except subprocess.TimeoutExpired:
        return


def _end_groups(leaders: Sequence[int]) -> None:
    """Asks first, for a moment, so that compilers and our own programs remove their temporary files; then kills."""
    asked = [leader for leader in leaders if not _has_ended(leader)]
    for leader in asked:
        _signal_group(leader, signal.SIGTERM)
    until = time.monotonic() + _GRACE_S
    while not all(map(_has_ended, asked)) and time.monotonic() < until:
        time.sleep(0.005)
    for leader in leaders:
        _signal_group(leader, signal.SIGKILL)


def _signal_group(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        signal_group(leader, number)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Raises OSError where there is no such group, or it is another user's."""
    os.killpg(leader, number)
