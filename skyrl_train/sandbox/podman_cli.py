"""Runs the podman command with a time limit; its whole process group is gone at the end.

Podman's API has no resumable pull and no time limit for builds; the command has both, and can be killed.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skyrl_train.fail import UsageError

_SAID, _LOG = 600, 8192
_GRACE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """`rc` None: it was killed at its limit, or because `end` was called."""

    rc: int | None
    out: str = ""
    err: str = ""
    why: str = ""

    @property
    def ok(self) -> bool:
        return self.rc == 0

    @property
    def log(self) -> str:
        """The last lines of its output."""
        return (self.out + self.err)[-_LOG:].strip()

    @property
    def error_text(self) -> str:
        """The last line of its output, for messages."""
        text = " ".join((self.err.strip() or self.out.strip()).split())
        return (f"{self.why}: " if self.why else "") + (text[-_SAID:] or f"exit status {self.rc}")


@dataclass(slots=True)
class PodmanCli:
    """Runs commands for one store: that of `environ`, or of our own environment. Threads may share it."""

    program: str = "podman"
    environ: Mapping[str, str] | None = None
    ending: threading.Event = field(default_factory=threading.Event)
    """Set at the end, so that waits between two tries stop."""
    _live: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: bool = False

    def run(self, *words: str, limit_s: float) -> Done:
        try:
            process = self._start((self.program, *words))
        except FileNotFoundError:
            raise UsageError("podman is not installed here; run this on the node that runs sandboxes") from None
        if process is None:
            return Done(rc=None, why="ended before it began")
        try:
            out, err = process.communicate(timeout=limit_s)
            return Done(rc=None if self._ended else process.returncode, out=out, err=err, why="ended" * self._ended)
        except subprocess.TimeoutExpired:
            end_group(process.pid)
            out, err = process.communicate()
            return Done(rc=None, out=out, err=err, why=f"timed out after {limit_s:g} s")
        finally:
            with self._lock:
                self._live.discard(process.pid)
            if process.poll() is None:
                end_group(process.pid)
                process.wait()

    def end_all(self) -> None:
        """Kills what runs; nothing starts afterwards."""
        with self._lock:
            self._ended = True
            self.ending.set()
            live = list(self._live)
        for pid in live:
            end_group(pid)

    def _start(self, argv: Sequence[str]) -> "subprocess.Popen[str] | None":
        with self._lock:
            if self._ended:
                return None
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=None if self.environ is None else dict(self.environ),
                start_new_session=True,
            )
            self._live.add(process.pid)
            return process


def end_group(leader: int) -> None:
    """Sends SIGTERM first, so that podman releases its locks and cleans up; then kills."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGTERM)
        _wait_for(leader)
        os.killpg(leader, signal.SIGKILL)


def _wait_for(leader: int) -> None:
    until = time.monotonic() + _GRACE_S
    while not _gone(leader) and time.monotonic() < until:
        time.sleep(0.02)


def _gone(leader: int) -> bool:
    """Whether the leader is dead, reaped or not; its starter reaps it."""
    try:
        return os.waitid(os.P_PID, leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
