"""Finds a Python with pytest for the tests of the demo."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.typed import Fields, FormatError, parse_json
from skyrl_train.process import run

_ASK_S = 20.0
_QUESTION = "import json, os, pytest, sys; print(json.dumps([sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(pytest.__file__))]))"


@dataclass(frozen=True, slots=True)
class SuitePython:
    """A Python with pytest. `directories` hold everything it needs except the system's libraries."""

    path: str
    directories: tuple[str, ...]


def suite_python(requested: str | None) -> SuitePython:
    """The given interpreter, or else this one or one on PATH."""
    tried = []
    for path in [requested] if requested else _candidates():
        found = _asked(path)
        if isinstance(found, SuitePython):
            return found
        tried.append(f"{path}: {found}")
    raise UsageError(
        f"the tests of the tasks need a Python with pytest, but none was found ({'; '.join(tried)});"
        f" run `{sys.executable} -m pip install pytest`, or pass --python"
    )


def _candidates() -> Iterator[str]:
    found = [sys.executable, shutil.which("python3"), shutil.which("python")]
    yield from dict.fromkeys(path for path in found if path)


def _asked(path: str) -> SuitePython | str:
    """The interpreter's directories, or why it cannot be used."""
    try:
        done = run([path, "-c", _QUESTION], limit_s=_ASK_S)
    except OSError as error:
        return error.strerror or str(error)
    if done.timed_out:
        return f"timed out after {_ASK_S:g} s"
    if not done.ok:
        return (done.error_text.strip().splitlines() or [f"exit status {done.status}"])[-1]
    try:
        directories = Fields({"": parse_json(done.text)}).texts("")
    except FormatError:
        return "its output is not a JSON list of directories"
    return SuitePython(path, tuple(dict.fromkeys(directories)))
