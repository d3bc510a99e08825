"""Small looks at paths that several probes share."""

from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.questions import Stat


def stat_or_none(machine: Machine, path: str) -> Stat | None:
    return unless_absent(lambda: machine.stat(path))


def text_or_none(machine: Machine, path: str, *, limit_bytes: int = 4 << 20) -> str | None:
    return unless_absent(lambda: machine.read(path, limit_bytes=limit_bytes))
