"""Reads the mount table; it never touches a mount, so a dead one cannot hold it."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.mounts import Mounts, parse_mountinfo
from skyrl_doctor.machine.base import Absent, Machine

MOUNTINFO = "/proc/self/mountinfo"


@probe(limit_s=2.0)
def mounts(machine: Machine) -> Mounts:
    try:
        text = machine.read(MOUNTINFO)
    except Absent:
        raise NotApplicable("this is not Linux: it has no /proc/self/mountinfo") from None
    found = parse_mountinfo(text)
    if not found.mounts:
        raise CouldNotLook(f"{MOUNTINFO} holds no line that reads as a mount")
    return found
