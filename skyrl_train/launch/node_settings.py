"""Applies the settings of a node: runs its script and takes over the environment that the script makes.

The calling process handles signals first, so that what the script makes on the node is removed whenever the job is stopped.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import IO

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.screen import print_note
from skyrl_train.process import start, wait_until

LIMIT_S = 120.0
_GRACE_S = 5.0


class SettingsError(TrainError):
    """The settings of a node cannot be made. The job is refused, as by the gate."""

    def __init__(self, why: str) -> None:
        super().__init__(f"cannot make the settings of this node: {why}")


def apply(script: str, stop_requested: Callable[[], bool], *, limit_s: float = LIMIT_S) -> bool:
    """Replaces the environment of this process by the script's; False if a stop was requested meanwhile.

    The environment is passed in a file, since BASH_ENV may print to standard output.
    """
    with tempfile.TemporaryFile() as made, tempfile.TemporaryFile() as output:
        try:
            argv = ("/bin/bash", script, "cp", "/proc/self/environ", f"/proc/self/fd/{made.fileno()}")
            child = start(argv, stdout=output, stderr=output, pass_fds=(made.fileno(),))
        except OSError as error:
            raise SettingsError(str(error)) from None
        try:
            ended = wait_until(lambda: child.poll() is not None or stop_requested(), limit_s)
        finally:
            child.end(_GRACE_S)
        if stop_requested():
            return False
        words = _text(output).strip()
        if words:
            print_note(f"{words}")
        if not ended or child.status:
            why = words.rpartition("\n")[2] or f"{script} exited with status {child.status}"
            raise SettingsError(why if ended else f"timed out after {limit_s:g} s")
        _replace_environment(dict(word.split(b"=", 1) for word in _bytes(made).split(b"\0") if b"=" in word))
    return True


def _replace_environment(environ: Mapping[bytes, bytes]) -> None:
    """Replaces the environment. A variable without a name is left as it is, since Python cannot set it."""
    for name in filter(None, {*os.environb, *environ}):
        if name in environ:
            os.environb[name] = environ[name]
        else:
            del os.environb[name]


def _bytes(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _text(file: IO[bytes]) -> str:
    return _bytes(file).decode(errors="replace")
