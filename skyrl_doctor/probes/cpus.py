"""Counts the node's CPUs as the C library does for os.cpu_count()."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.cpus import NodeCpus, parse_cpu_list
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine

ONLINE = "/sys/devices/system/cpu/online"


@probe(limit_s=2.0)
def cpus(machine: Machine, host: Host) -> NodeCpus:
    try:
        return NodeCpus(parse_cpu_list(machine.read(ONLINE)))
    except Absent:
        if host.system.startswith("Linux"):
            raise
        raise NotApplicable(f"{host.system} has no {ONLINE}") from None
    except ValueError as error:
        raise CouldNotLook(f"{ONLINE}: {error}") from None
