"""The output streams of a command: characters that the locale lacks, closed streams, and broken pipes."""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable

from skyrl_train.contracts.screen import guarded

CANNOT_WRITE = 2


def run(name: str, command: Callable[[], int]) -> int:
    """Runs the command; its exit status, or one for a broken pipe or a full disk if its output could not be written."""
    _open()
    try:
        with guarded():
            status = command()
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:  # names a file, so it is not about our output
            raise
        return _unwritten(name, error)
    return status


def _open() -> None:
    """Prepares the streams: escapes characters that the locale lacks, and replaces a closed stream by /dev/null."""
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
    for stream in (sys.stdout, sys.stderr):  # the buffered rest must not fail again at exit
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 128 + signal.SIGPIPE if broken else CANNOT_WRITE
