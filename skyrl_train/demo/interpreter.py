"""Which Python runs the tests of the demonstration: one that has pytest, whose absence is said and not papered over."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from skyrl_train.contracts.errors import UsageError

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
        done = subprocess.run([path, "-c", _QUESTION], capture_output=True, text=True, timeout=_ASK_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {_ASK_S:g} s"
    except OSError as error:
        return error.strerror or str(error)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    try:
        return SuitePython(path, tuple(dict.fromkeys(json.loads(done.stdout))))
    except ValueError:
        return "it printed something else than was asked for"
