"""Reads the limits of this process, and how many threads its user runs on the node."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.limits import Limits, parse_limits, parse_threads
from skyrl_doctor.machine.base import Absent, Machine

LIMITS = "/proc/self/limits"
PS_LIMIT_S = 2.0


@probe(limit_s=4.0)
def limits(machine: Machine, host: Host) -> Limits:
    try:
        text = machine.read(LIMITS)
    except Absent:
        if host.system.startswith("Linux"):
            raise
        raise NotApplicable(f"{host.system} has no {LIMITS}") from None
    try:
        return parse_limits(text, threads=_threads(machine, host.uid))
    except ValueError as error:
        raise CouldNotLook(f"{LIMITS}: {error}") from None


def _threads(machine: Machine, uid: int) -> int | None:
    """None where ps is missing, wedged or says something else: the limits stand without it."""
    listed = machine.run(["ps", "-U", str(uid), "-o", "nlwp="], limit_s=PS_LIMIT_S)
    if not listed.ok:
        return None
    try:
        return parse_threads(listed.out)
    except ValueError:
        return None
