"""The streams of a command: what a locale cannot say, what the caller closed, and a reader that went away."""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable

CANNOT_WRITE = 2


def run(name: str, command: Callable[[], int]) -> int:
    """The command's exit status; the status of a broken pipe or a full disk where its output could not be written."""
    _open()
    try:
        status = command()
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:  # of a file, and nobody's answer: a fault of ours
            raise
        return _unwritten(name, error)
    return status


def _open() -> None:
    """A report quotes texts that this locale may not be able to say; a stream that the caller closed takes all."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- until the process ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- as above
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _unwritten(name: str, error: OSError) -> int:
    broken = isinstance(error, BrokenPipeError)
    if not broken:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{name}: cannot write: {error.strerror}\n")
    for stream in (sys.stdout, sys.stderr):  # what is still in a buffer must not fail again at the end
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 128 + signal.SIGPIPE if broken else CANNOT_WRITE
