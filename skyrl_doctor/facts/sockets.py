"""Who listens on which TCP port of this node: /proc/net/tcp and tcp6. Nothing is connected to."""

import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine

LISTEN = "0A"
# The start of a row: its number, the local endpoint, the other one, the state. A busy node has thousands.
_ROW = re.compile(r"\s*\S+\s+([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})\s+\S+\s+([0-9A-F]{2})\s", re.IGNORECASE)
TCP, TCP6 = "/proc/net/tcp", "/proc/net/tcp6"
LIMIT_BYTES = 32 << 20


@record
class Socket:
    """`address` is as ipaddress writes it; 0.0.0.0 and :: are every address of the node."""

    address: str
    port: int
    uid: int

    @property
    def on_every_address(self) -> bool:
        return self.address in ("0.0.0.0", "::")  # noqa: S104 -- compared, not bound


@record
class Listeners:
    """The listening sockets of this network namespace."""

    sockets: tuple[Socket, ...]

    def on(self, port: int, address: str | None = None) -> Socket | None:
        """Who listens on a port: at that address or at every one, or anywhere where no address is asked for."""
        return next(
            (
                socket
                for socket in self.sockets
                if socket.port == port and (address is None or socket.address == address or socket.on_every_address)
            ),
            None,
        )


def parse_tcp(text: str) -> tuple[Socket, ...]:
    """The listening sockets of a table of proc(5). Raises ValueError where a line is none of such a table."""
    lines = text.splitlines()
    if not lines or "local_address" not in lines[0]:
        raise ValueError("no table of sockets: its heading is missing")
    rows = [(line, _ROW.match(line)) for line in lines[1:] if line.strip()]
    return tuple(_socket(line, row) for line, row in rows if row is None or row[3].upper() == LISTEN)


def _socket(line: str, row: re.Match[str] | None) -> Socket:
    words = line.split()
    uid = words[7] if len(words) > 7 else ""
    if row is None or not (uid.isascii() and uid.isdecimal() and len(uid) <= 10):
        raise ValueError(f"no row of a table of sockets: {' '.join(words)[:80]!r}")
    return Socket(_address(row[1]), int(row[2], 16), int(uid))


def _address(digits: str) -> str:
    """The kernel writes each four bytes as a number of the machine, which on all that run CUDA is the low byte first."""
    words = (bytes.fromhex(digits[start : start + 8])[::-1] for start in range(0, len(digits), 8))
    packed = b"".join(words)
    if len(packed) == 4:
        return ".".join(map(str, packed))
    import ipaddress  # of IPv6 alone: an address has one shortest form

    address = ipaddress.IPv6Address(packed)
    return str(address.ipv4_mapped or address)


@probe(limit_s=3.0)
def sockets(machine: Machine, host: Host) -> Listeners:
    """Reads the kernel's tables of TCP sockets."""
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
