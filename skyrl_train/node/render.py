"""Renders a Preparation for a shell's `eval` or for Slurm's TaskProlog."""

import re
import shlex
from collections.abc import Iterator

from skyrl_train.node.settings import Directory, Preparation, TextFile

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def shell(preparation: Preparation) -> str:
    """Lines for `eval "$(…)"` in sh or bash: directories and files first, then the variables that name them.

    Each line ends with a semicolon and has no comment, so that it also works without quotes around $(…).
    """
    return "".join(f"{line};\n" for line in _shell_lines(preparation))


def taskprolog(preparation: Preparation) -> str:
    """Lines for a TaskProlog (slurm.conf(5)): `export NAME=value` or `unset NAME` changes the task's environment.

    Slurm reads the rest of the line literally. A value with a line break cannot be written and is left out.
    """
    return "".join(f"{line}\n" for line in _taskprolog_lines(preparation))


def _shell_lines(preparation: Preparation) -> Iterator[str]:
    yield from (_make_directory(directory) for directory in preparation.directories)
    yield from (_write_file(file) for file in preparation.files)
    for setting in preparation.settings:
        name = _checked(setting.name)
        if setting.value is None:
            yield f"unset {name}"
        else:
            yield f"export {name}={shlex.quote(setting.value)}"


def _taskprolog_lines(preparation: Preparation) -> Iterator[str]:
    for setting in preparation.settings:
        name = _checked(setting.name)
        if setting.value is None:
            yield f"unset {name}"
        elif "\n" not in setting.value:
            yield f"export {name}={setting.value}"


def _make_directory(directory: Directory) -> str:
    """A command that makes a directory. It fails if another user made it first or made a link with this name."""
    path = shlex.quote(directory.path)
    made = f"mkdir -p {path} && [ ! -L {path} ] && [ -O {path} ] && chmod {directory.mode:o} {path}"
    return f"{made} || {{ echo {path} is not a directory of this user >&2; return 1 2>/dev/null || exit 1; }}"


def _write_file(file: TextFile) -> str:
    path = shlex.quote(file.path)
    text = shlex.quote(file.text.replace("\\", "\\\\").replace("%", "%%").replace("\n", "\\n"))
    return f"printf {text} > {path} && chmod {file.mode:o} {path}"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid variable name")
    return name
