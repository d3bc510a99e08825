"""A Preparation as text: for a shell's `eval`, or for Slurm's TaskProlog."""

import re
import shlex
from collections.abc import Iterator

from skyrl_train.node.settings import Directory, Preparation, TextFile

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def shell(preparation: Preparation) -> str:
    """Lines for `eval "$(…)"` in sh or bash: directories and files first, then the variables that name them.

    Each ends with a semicolon, and none holds a comment: many forget the quotes around the $(…), and lose the line ends.
    """
    return "".join(f"{line};\n" for line in _shell_lines(preparation))


def taskprolog(preparation: Preparation) -> str:
    """slurm.conf(5), TaskProlog: each `export NAME=value` or `unset NAME` line changes the task's environment.

    Slurm takes the rest of the line as it stands, without quotes. A value with a line break cannot be said, and is left out.
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
    """Under /tmp somebody else may have made it first, or put a link in its place: then it is not used."""
    path = shlex.quote(directory.path)
    made = f"mkdir -p {path} && [ ! -L {path} ] && [ -O {path} ] && chmod {directory.mode:o} {path}"
    return f"{made} || {{ echo {path} is not a directory of ours >&2; return 1 2>/dev/null || exit 1; }}"


def _write_file(file: TextFile) -> str:
    path = shlex.quote(file.path)
    text = shlex.quote(file.text.replace("\\", "\\\\").replace("%", "%%").replace("\n", "\\n"))
    return f"printf {text} > {path} && chmod {file.mode:o} {path}"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a variable")
    return name
