"""The CPUs of the node, whoever may use them: what Ray counts where nobody tells it otherwise."""

import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine

MOST_CPUS = 1 << 16
_LIST = re.compile(r"\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*", re.ASCII)
ONLINE = "/sys/devices/system/cpu/online"


@record
class NodeCpus:
    online: int


def parse_cpu_list(text: str) -> int:
    """How many CPUs a list such as `0-15,32-47` names. Raises ValueError."""
    listed = text.strip()
    if not _LIST.fullmatch(listed):
        raise ValueError(f"no list of CPUs: {listed[:80]!r}")
    count = sum(_span(part) for part in listed.split(","))
    if not 0 < count <= MOST_CPUS:
        raise ValueError(f"a list of {count} CPUs: {listed[:80]!r}")
    return count


def _span(part: str) -> int:
    first, _, last = part.partition("-")
    size = int(last or first) - int(first) + 1
    if size < 1:
        raise ValueError(f"a list of CPUs that runs backwards: {part!r}")
    return size


@probe(limit_s=2.0)
def cpus(machine: Machine, host: Host) -> NodeCpus:
    """Counts the node's CPUs as the C library does for os.cpu_count()."""
    try:
        return NodeCpus(parse_cpu_list(machine.read(ONLINE)))
    except Absent:
        if host.system.startswith("Linux"):
            raise
        raise NotApplicable(f"{host.system} has no {ONLINE}") from None
    except ValueError as error:
        raise CouldNotLook(f"{ONLINE}: {error}") from None
