"""Reads the text of a target. A file that is too large, binary or a directory is a UsageError."""

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Absent, Machine

LIMIT_BYTES = 4 << 20
COMMAND_LINE = "command line"


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
        raise UsageError("a target is empty; give the path of a configuration or a verl command line")
    try:
        data = machine.read_bytes(target, limit_bytes=LIMIT_BYTES + 1)
    except Absent:
        if "main_ppo" in target and len(target.split()) > 1:
            return Source(COMMAND_LINE, target)
        raise UsageError(f"target {target}: no such file or directory") from None
    except CouldNotLook as error:
        if "main_ppo" in target and len(target.split()) > 1:  # a command line is longer than a path may be
            return Source(COMMAND_LINE, target)
        raise UsageError(f"target {error}") from None
    if len(data) > LIMIT_BYTES:
        raise UsageError(f"target {target}: larger than {LIMIT_BYTES >> 20} MiB, too large for a configuration")
    return Source(target, decode(target, data))


def decode(target: str, data: bytes) -> str:
    """Decodes UTF-8 text. Raises UsageError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"target {target}: not UTF-8 text (byte {error.start}), so not a configuration") from None
    if "\0" in text:
        raise UsageError(f"target {target}: contains NUL bytes, so not a configuration")
    return text
