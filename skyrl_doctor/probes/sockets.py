"""Reads the kernel's tables of TCP sockets."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.sockets import Listeners, Socket, parse_tcp
from skyrl_doctor.machine.base import Absent, Machine

TCP, TCP6 = "/proc/net/tcp", "/proc/net/tcp6"
LIMIT_BYTES = 32 << 20


@probe(limit_s=3.0)
def sockets(machine: Machine, host: Host) -> Listeners:
    try:
        over_ipv4 = _table(machine, TCP)
    except Absent:
        if host.system.startswith("Linux"):
            raise
        raise NotApplicable(f"{host.system} has no {TCP}") from None
    try:
        return Listeners((*over_ipv4, *_table(machine, TCP6)))
    except Absent:
        return Listeners(over_ipv4)  # a kernel without IPv6


def _table(machine: Machine, path: str) -> tuple[Socket, ...]:
    text = machine.read(path, limit_bytes=LIMIT_BYTES)
    if len(text) >= LIMIT_BYTES:
        raise CouldNotLook(f"{path}: longer than {LIMIT_BYTES >> 20} MiB")
    try:
        return parse_tcp(text)
    except ValueError as error:
        raise CouldNotLook(f"{path}: {error}") from None
