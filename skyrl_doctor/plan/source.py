"""Reads the text of a target. A file that is too large, binary or a directory is a UsageError."""

import os.path
import re

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_train.contracts.similar_path import closest_beside

LIMIT_BYTES = 4 << 20
COMMAND_LINE = "command line"
MAX_FOLDERS = 12
MAX_NAMES = 2000
"""Names of a directory that are compared with a mistyped one."""
_PROGRAM = re.compile(r"(?:^|[\s/])(?:python[\d.]*|torchrun|uv|uvx|srun|ray|accelerate|bash)\s|\s-m\s|main_ppo|\s@\s")
_OVERRIDE = re.compile(r"(?:\+\+?|~|--)?[A-Za-z_][\w-]*(?:\.[\w-]+)*=")


@record
class Source:
    """A target and its text without byte-order mark."""

    file: str
    text: str

    @property
    def suffix(self) -> str:
        name = self.file.rpartition("/")[2]
        return "." + name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""


def read_source(machine: Machine, target: str) -> Source:
    """Reads a file, or takes a command line that is the target itself."""
    if not target.strip():
        raise UsageError("a target is empty; give the path of a configuration or a command line")
    try:
        data = machine.read_bytes(target, limit_bytes=LIMIT_BYTES + 1)
    except Absent:
        if _is_command_line(target):
            return Source(COMMAND_LINE, target)
        if _OVERRIDE.match(target):
            raise UsageError(
                f"target {target}: a setting, not a file; write it into the script, or pass the whole command in quotes"
            ) from None
        raise UsageError(f"target {target}: no such file or directory{_similar(machine, target)}") from None
    except CouldNotLook as error:
        if _is_command_line(target):  # it is longer than a path may be
            return Source(COMMAND_LINE, target)
        raise UsageError(f"target {error}{_files_of(machine, target)}") from None
    if len(data) > LIMIT_BYTES:
        raise UsageError(f"target {target}: larger than {LIMIT_BYTES >> 20} MiB, too large for a configuration")
    return Source(target, decode(target, data))


def _similar(machine: Machine, target: str) -> str:
    """A question for the file beside a missing one that has nearly its name; empty if there is none."""
    directory, name = os.path.split(target)
    try:
        names = machine.listdir(directory or ".")[:MAX_NAMES]
    except CouldNotLook:
        return ""
    return closest_beside(directory, name, names)


def _files_of(machine: Machine, target: str) -> str:
    """How to name the files of a directory; empty for anything else."""
    try:
        is_directory = machine.stat(target).kind == "dir"
    except (Absent, CouldNotLook):
        return ""
    return f"; name its files, such as {os.path.join(target, '*.sh')}" if is_directory else ""


def folders_above(machine: Machine, file: str) -> tuple[str, ...]:
    """The directory of a target and those above it, the nearest first. For a command line: the working directory."""
    try:
        path = os.path.join(machine.identity().cwd, "" if file == COMMAND_LINE else os.path.dirname(file))
    except CouldNotLook:
        if not os.path.isabs(file):
            return ()
        path = os.path.dirname(file)
    found = [os.path.normpath(path)]
    while len(found) < MAX_FOLDERS and os.path.dirname(found[-1]) not in ("/", found[-1]):
        found.append(os.path.dirname(found[-1]))
    return tuple(found)


def _is_command_line(target: str) -> bool:
    """Whether the target is a command with arguments: it names a program that starts others, or holds an option."""
    words = target.split()
    return len(words) > 1 and _PROGRAM.search(target) is not None


def decode(target: str, data: bytes) -> str:
    """Decodes UTF-8 text. Raises UsageError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"target {target}: not UTF-8 text (byte {error.start}), so not a configuration") from None
    if "\0" in text:
        raise UsageError(f"target {target}: contains NUL bytes, so not a configuration")
    return text
