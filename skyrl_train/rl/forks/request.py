"""What a launcher asks for, and whether a copy of the server can stand for the Python that it asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LARGEST = 4 << 20
READ_AT_IMPORT = (
    "HF_",
    "LD_",
    "PYTHON",
    "RAY_AUTH",
    "RAY_JOB_ID",
    "RAY_RAYLET_PID",
    "TRANSFORMERS_",
    "VERL_",
    "VLLM_LOGGING_",
)
"""Variables that the imported packages, or Python itself, read once. OMP_NUM_THREADS is set anew in the copy."""
READ_AT_START = ("HF_", "LD_", "PYTHON", "TRANSFORMERS_", "VLLM_")
"""Those that were read before the first worker was known. vLLM's modules read many of its variables once."""
OFF = frozenset({"VLLM_BATCH_INVARIANT"})
"""verl gives its workers a 0 where it is not set, which is the same."""
READ_WHEN_USED = frozenset({"PYTHONBREAKPOINT", "VERL_RAY_JOB_ID", "VERL_REPLICA_RANK"})
"""Ray and verl set them in a worker, so that the engine that it starts has other values. No import reads them."""
OPTIONS = ("-u", "-B", "-s", "-I", "-E", "-S")
"""Options of Python that a copy obeys (-u) or that change nothing for it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A Python that somebody wants to start. `files` are the numbers that its open files are to have."""

    words: list[str]
    environ: dict[str, str]
    directory: str
    files: list[int]


def read(text: bytes) -> Request:
    """ValueError for anything else."""
    found: Any = json.loads(text)
    try:
        return Request(
            words=[str(word) for word in found["words"]],
            environ={str(name): str(value) for name, value in found["environ"].items()},
            directory=str(found["directory"]),
            files=[int(number) for number in found["files"]],
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a request: {error}") from error


def changed(environ: Mapping[str, str], before: Mapping[str, str], names: tuple[str, ...]) -> str:
    """The first variable of such a name that has another value; empty if none has."""
    names_of_both = sorted({*before, *environ} - READ_WHEN_USED)
    different = (name for name in names_of_both if _value(before, name) != _value(environ, name))
    return next((name for name in different if name.startswith(names)), "")


def _value(environ: Mapping[str, str], name: str) -> str | None:
    value = environ.get(name)
    return None if name in OFF and value == "0" else value


def obstacle(request: Request, imported: Mapping[str, str]) -> str:
    """Why a copy would differ from a new Python; empty if it would not. `imported` is the environment of the imports."""
    if name := changed(request.environ, imported, READ_AT_IMPORT):
        return f"{name} has another value than at the import"
    _, rest = split(request.words)
    if not rest or (rest[0].startswith("-") and (rest[0] not in ("-c", "-m") or len(rest) < 2)):
        return f"the option {rest[0]!r} of Python" if rest else "no program"
    return ""


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """Python's options, and what it is to run with its words."""
    count = 0
    while count < len(words) and words[count] in OPTIONS:
        count += 1
    return words[:count], words[count:]
