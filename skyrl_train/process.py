"""Runs other programs: the one module of the trainer that starts processes and signals process groups.

A program leads a process group of its own, and the whole group ends with it. Time and output have limits; output stays
bytes. `process_async` has the same for coroutines. Programs inside a sandbox use the standard library alone and have a
runner of their own: one in sandboxd, one in the agent's tools.
"""

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypedDict, Unpack

from skyrl_train.procfs import group_lives

KEEP, DROP, INHERIT = subprocess.PIPE, subprocess.DEVNULL, None
"""Where an output goes: into the result, nowhere, or where ours goes. A file or a descriptor is possible too."""
GRACE_S = 2.0
"""Between SIGTERM and SIGKILL: Podman gives back its locks, a compiler removes its files."""
MOST_BYTES = 64 << 20
REAP_S = 60.0
"""How long a killed process may take to give back its memory. After that it is left to the kernel."""
CHUNK = 1 << 16
_LOOK_S = 0.05

Output = int | IO[bytes] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A program that has ended. `status` is None where it was ended for the reason that follows."""

    status: int | None
    """Negative: the number of the signal that ended it."""
    out: bytes = b""
    err: bytes = b""
    timed_out: bool = False
    truncated: bool = False
    """It wrote more than it may."""
    stopped: bool = False
    """The caller's `stop` was set."""

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")

    @property
    def error_text(self) -> str:
        return self.err.decode("utf-8", "replace")


class Settings(TypedDict, total=False):
    """How a program is started. Without `env` it gets our own environment."""

    env: Mapping[str, str] | None
    cwd: str | Path | None
    stdout: Output
    stderr: Output
    pass_fds: tuple[int, ...]


class Child:
    """A program that was started. Its number stays its own until `end`, since only that reaps it."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._parts: dict[IO[bytes], list[bytes]] = {
            pipe: [] for pipe in (process.stdout, process.stderr) if pipe is not None
        }
        self._size = 0
        self._reaped = False
        for pipe in self._parts:
            os.set_blocking(pipe.fileno(), False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def status(self) -> int:
        """Of a program that has ended; negative where a signal ended it."""
        found = self.poll()
        if found is None:
            raise RuntimeError(f"process {self.pid} still runs")
        return found

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        if self._reaped:
            return self._process.returncode
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return self._process.poll()
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def wait(self, limit_s: float) -> int | None:
        """The exit status; None where it still runs after `limit_s`."""
        wait_until(lambda: self.poll() is not None, limit_s)
        return self.poll()

    def send(self, number: signal.Signals) -> None:
        """Signals the program alone, and nothing where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def end(self, grace_s: float) -> None:
        """Ends the whole group: SIGTERM, SIGKILL after the grace to what is left. A second call does nothing."""
        if self._reaped:
            return
        try:
            signal_group(self.pid, signal.SIGTERM)
            wait_until(lambda: self.poll() is not None and not group_lives(self.pid), grace_s)
        finally:
            self._reap()

    def collect(
        self,
        limit_s: float,
        *,
        grace_s: float = GRACE_S,
        stop: threading.Event | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> Completed:
        """Reads the output until the program ends, not until its pipes close: a grandchild may hold them for ever.

        After an exception, such as one from a signal handler, a second call goes on with what the first one read.
        """
        cut = self._read(time.monotonic() + limit_s, stop, most_bytes)
        if cut:
            signal_group(self.pid, signal.SIGTERM)
            self._read(time.monotonic() + grace_s, None, most_bytes + CHUNK)
        status = None if cut else self.status
        self._reap()
        return Completed(
            status=status, out=self._text(self._process.stdout), err=self._text(self._process.stderr), **cut
        )

    def _read(self, until: float, stop: threading.Event | None, most_bytes: int) -> dict[str, bool]:
        """Until the program ends, or why it must be ended, as a field of Completed."""
        with selectors.DefaultSelector() as selector:
            for pipe in self._parts:
                if not pipe.closed:
                    selector.register(pipe, selectors.EVENT_READ, pipe)
            while True:
                ended = self.poll() is not None
                left_s = min(_LOOK_S, until - time.monotonic())
                ready = selector.select(0 if ended else max(left_s, 0)) if selector.get_map() else []
                for key, _ in ready:
                    self._take(key.data, selector)
                if self._size > most_bytes:
                    return {"truncated": True}
                if ended and not ready:
                    return {}
                if stop is not None and stop.is_set() and not ended:
                    return {"stopped": True}
                if left_s <= 0 and not ended:
                    return {"timed_out": True}
                if not selector.get_map() and not ended:
                    time.sleep(min(left_s, 0.005))

    def _take(self, pipe: IO[bytes], selector: selectors.BaseSelector) -> None:
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(pipe.fileno(), CHUNK)
            self._parts[pipe].append(chunk)
            self._size += len(chunk)
            if not chunk:
                selector.unregister(pipe)
                pipe.close()

    def _text(self, pipe: IO[bytes] | None) -> bytes:
        return b"" if pipe is None else b"".join(self._parts[pipe])

    def _reap(self) -> None:
        signal_group(self.pid, signal.SIGKILL)
        for pipe in self._parts:
            pipe.close()
        try:
            self._process.wait(REAP_S)
        except subprocess.TimeoutExpired:
            self._process.returncode = -signal.SIGKILL
        self._reaped = True


def start(argv: Sequence[str], **settings: Unpack[Settings]) -> Child:
    """Starts a program that the caller ends. Raises OSError."""
    env = settings.get("env")
    with as_os_error():
        return Child(
            subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=settings.get("stdout", INHERIT),
                stderr=settings.get("stderr", INHERIT),
                env=None if env is None else dict(env),
                cwd=settings.get("cwd"),
                pass_fds=settings.get("pass_fds", ()),
                start_new_session=True,
            )
        )


@contextmanager
def started(argv: Sequence[str], *, grace_s: float = GRACE_S, **settings: Unpack[Settings]) -> Iterator[Child]:
    """Runs a program; its group is gone when the context ends. Raises OSError."""
    child = start(argv, **settings)
    try:
        yield child
    finally:
        child.end(grace_s)


def run(
    argv: Sequence[str],
    *,
    limit_s: float,
    grace_s: float = GRACE_S,
    stop: threading.Event | None = None,
    most_bytes: int = MOST_BYTES,
    **settings: Unpack[Settings],
) -> Completed:
    """Runs a program to its end and keeps its output, unless that goes elsewhere. Raises OSError.

    It is ended at the limit, when it writes too much, when `stop` is set, and by an exception here.
    """
    if stop is not None and stop.is_set():
        return Completed(status=None, stopped=True)
    settings.setdefault("stdout", KEEP)
    settings.setdefault("stderr", KEEP)
    with started(argv, grace_s=grace_s, **settings) as child:
        return child.collect(limit_s, grace_s=grace_s, stop=stop, most_bytes=most_bytes)


def signal_group(group: int, number: signal.Signals) -> bool:
    """Whether there was such a group and it could be signalled."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def wait_until(condition: Callable[[], bool], limit_s: float) -> bool:
    """Whether the condition held within the limit."""
    end_at = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() >= end_at:
            return False
        time.sleep(_LOOK_S)
    return True


@contextmanager
def as_os_error() -> Iterator[None]:
    """A zero byte in an argument is a ValueError to subprocess; for a caller the program cannot be started."""
    try:
        yield
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from None
