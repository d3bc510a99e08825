"""Which Python runs the tests of the demonstration: one that has pytest, whose absence is said and not papered over."""

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
    """`directories` hold all that it needs beside the system's own libraries."""

    path: str
    directories: tuple[str, ...]


def suite_python(wanted: str | None) -> SuitePython:
    """The wanted interpreter, else this one, else one on PATH."""
    looked = []
    for path in [wanted] if wanted else _candidates():
        found = _asked(path)
        if isinstance(found, SuitePython):
            return found
        looked.append(f"{path}: {found}")
    raise UsageError(
        f"the tasks' tests need a Python with pytest, and none was found ({'; '.join(looked)});"
        " run `python -m pip install pytest`, or name one with --python"
    )


def _candidates() -> Iterator[str]:
    found = [sys.executable, shutil.which("python3"), shutil.which("python")]
    yield from dict.fromkeys(path for path in found if path)


def _asked(path: str) -> SuitePython | str:
    """What the interpreter says, or why it cannot be used."""
    try:
        done = run([path, "-c", _QUESTION], limit_s=_ASK_S)
    except OSError as error:
        return error.strerror or str(error)
    if done.timed_out:
        return f"no answer within {_ASK_S:g} s"
    if not done.ok:
        return (done.error_text.strip().splitlines() or [f"exit status {done.status}"])[-1]
    try:
        directories = Fields({"": parse_json(done.text)}).texts("")
    except FormatError:
        return "it printed something else than was asked for"
    return SuitePython(path, tuple(dict.fromkeys(directories)))
