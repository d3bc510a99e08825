"""Who listens on which TCP port of this node: /proc/net/tcp and tcp6. Nothing is connected to."""

import ipaddress
import re

from skyrl_doctor.core.record import record

LISTEN = "0A"
_ENDPOINT = re.compile(r"([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})", re.IGNORECASE)


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
    rows = [line.split() for line in lines[1:] if line.strip()]
    return tuple(_socket(row) for row in rows if _state(row) == LISTEN)


def _state(row: list[str]) -> str:
    if len(row) < 8 or not _ENDPOINT.fullmatch(row[1]) or not re.fullmatch(r"[0-9A-Fa-f]{2}", row[3]):
        raise ValueError(f"no row of a table of sockets: {' '.join(row)[:80]!r}")
    return row[3].upper()


def _socket(row: list[str]) -> Socket:
    endpoint = _ENDPOINT.fullmatch(row[1])
    if endpoint is None or not (row[7].isascii() and row[7].isdecimal() and len(row[7]) <= 10):
        raise ValueError(f"no row of a table of sockets: {' '.join(row)[:80]!r}")
    return Socket(_address(endpoint[1]), int(endpoint[2], 16), int(row[7]))


def _address(digits: str) -> str:
    """The kernel writes each four bytes as a number of the machine, which on all that run CUDA is the low byte first."""
    words = (bytes.fromhex(digits[start : start + 8])[::-1] for start in range(0, len(digits), 8))
    packed = b"".join(words)
    if len(packed) == 4:
        return str(ipaddress.IPv4Address(packed))
    address = ipaddress.IPv6Address(packed)
    return str(address.ipv4_mapped or address)
