"""Where the command starts. `--version` answers before anything else is imported."""

import contextlib
import io
import os
import signal
import sys
import time

CANNOT_WRITE = 2


def main() -> int:
    _open_streams()
    try:
        status = _command(sys.argv[1:])
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:  # of a file, and nobody's answer: a fault of the doctor
            raise
        return _unwritten(error)
    return status


def _command(words: list[str]) -> int:
    if words == ["--version"]:
        from skyrl_doctor.version import VERSION

        sys.stdout.write(f"skyrl-doctor {VERSION}\n")
        return 0
    from skyrl_doctor.cli.app import dispatch

    return dispatch(words, age_s=_age_s())


def _age_s() -> float:
    """How long this process lives already: a --deadline counts from where the caller waits."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            started_ticks = int(file.read().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started_ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):  # no Linux
        return 0.0


def _open_streams() -> None:
    """A report quotes texts that this locale may not be able to say; a stream that the caller closed takes all."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- until the process ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- as above
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _unwritten(error: OSError) -> int:
    """The status where output could not be written: to a reader that went away, or to a full disk."""
    broken = isinstance(error, BrokenPipeError)
    if not broken:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"skyrl-doctor: cannot write: {error.strerror}\n")
    for stream in (sys.stdout, sys.stderr):  # what is still in a buffer must not fail again at the end
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 128 + signal.SIGPIPE if broken else CANNOT_WRITE


if __name__ == "__main__":
    sys.exit(main())
