"""podman, called with a list of words, a time limit, and its whole process group gone at the end.

The API has no resumable pull and no build with a time limit of its own; a command has both, and a kill ends it.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from skyrl_train import process
from skyrl_train.contracts.errors import UsageError

_SAID, _LOG = 600, 8192
_END_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """`rc` None: it was ended at its limit, or because all is at its end."""

    rc: int | None
    out: str = ""
    err: str = ""
    why: str = ""

    @property
    def ok(self) -> bool:
        return self.rc == 0

    @property
    def log(self) -> str:
        """The last lines of all that it printed."""
        return (self.out + self.err)[-_LOG:].strip()

    @property
    def said(self) -> str:
        """The last words, for a person."""
        text = " ".join((self.err.strip() or self.out.strip()).split())
        return (f"{self.why}: " if self.why else "") + (text[-_SAID:] or f"exit status {self.rc}")


@dataclass(slots=True)
class PodmanCli:
    """Commands of one store: that of `environ`, or of our own environment. Threads may share it."""

    program: str = "podman"
    environ: Mapping[str, str] | None = None
    ending: threading.Event = field(default_factory=threading.Event)
    """Set when all is at its end: whoever waits between two tries need not."""
    _running: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def run(self, *words: str, limit_s: float) -> Done:
        """Raises UsageError where Podman is not installed."""
        if self.ending.is_set():
            return Done(rc=None, why="ended before it began")
        with self._counted():
            try:
                done = process.run((self.program, *words), limit_s=limit_s, stop=self.ending, env=self.environ)
            except FileNotFoundError:
                raise UsageError(
                    "podman is not installed here; images are fetched on the node that runs sandboxes"
                ) from None
        return Done(rc=done.status, out=done.text, err=done.error_text, why=_why(done, limit_s))

    def end_all(self) -> None:
        """Ends what runs, and returns when it has ended; nothing starts after this."""
        self.ending.set()
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0, _END_S)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()


def _why(done: process.Completed, limit_s: float) -> str:
    """Why it was ended; nothing where it ended by itself."""
    if done.timed_out:
        return f"no end within {limit_s:g} s"
    if done.truncated:
        return f"more than {process.MOST_BYTES >> 20} MiB of output"
    return "ended" if done.stopped else ""
