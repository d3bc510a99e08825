"""The settings that a node needs, made by its script and taken by the process that goes on with them.

That process listens to signals before: what the script makes on the node has somebody who takes it away, whenever the job
is told to end.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import IO

from skyrl_train.contracts.errors import TrainError
from skyrl_train.process import start, wait_until

LIMIT_S = 120.0
_GRACE_S = 5.0


class SettingsError(TrainError):
    """Without its settings a node runs nothing: the job is refused, as by the gate."""

    def __init__(self, why: str) -> None:
        super().__init__(f"this node's settings could not be worked out: {why}")


def take(script: str, told_to_end: Callable[[], bool], *, limit_s: float = LIMIT_S) -> bool:
    """This process's environment becomes what the script makes of it. Not where it was told to end meanwhile.

    It is told in a file of its own: bash runs BASH_ENV first, which may print.
    """
    with tempfile.TemporaryFile() as made, tempfile.TemporaryFile() as said:
        try:
            argv = ("/bin/bash", script, "cp", "/proc/self/environ", f"/proc/self/fd/{made.fileno()}")
            child = start(argv, stdout=said, stderr=said, pass_fds=(made.fileno(),))
        except OSError as error:
            raise SettingsError(str(error)) from None
        try:
            ended = wait_until(lambda: child.poll() is not None or told_to_end(), limit_s)
        finally:
            child.end(_GRACE_S)
        if told_to_end():
            return False
        words = _text(said).strip()
        if words:
            sys.stderr.write(f"{words}\n")
        if not ended or child.status:
            why = words.rpartition("\n")[2] or f"{script} ended with {child.status}"
            raise SettingsError(why if ended else f"no answer within {limit_s:g} s")
        _become(dict(word.split(b"=", 1) for word in _bytes(made).split(b"\0") if b"=" in word))
    return True


def _become(environ: Mapping[bytes, bytes]) -> None:
    """Of a variable without a name, which a program may hand on but none may set, everything stays as it was."""
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
