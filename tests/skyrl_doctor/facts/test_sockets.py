"""/proc/net/tcp and tcp6."""

import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.host import host
from skyrl_doctor.facts.sockets import Listeners, Socket, parse_tcp, sockets
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from support import recorded

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
SSHD = "   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1601 1 000000007c60e12d 100 0 0 10 0\n"
OPEN = SSHD.replace("0A", "01", 1).replace("   0:", "   1:")
# a control server of Ray 2.60, then a peer of it under a mapped address
GCS = "   3: 00000000000000000000000000000000:8EF9 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 36969 1 00000000c85fa052 100 0 0 10 0\n"
MAPPED = "   6: 0000000000000000FFFF0000020200C0:8EF9 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 35350 1 0 20 4 30 18 -1\n"


def test_finds_who_listens() -> None:
    assert parse_tcp(HEAD + SSHD + OPEN) == (Socket("127.0.0.1", 8000, 1000),)
    assert parse_tcp(HEAD + GCS + MAPPED) == (Socket("::", 36601, 0), Socket("192.0.2.2", 36601, 7))
    assert parse_tcp(HEAD) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        SSHD,
        HEAD + "   0: 0100007F:1F40\n",
        HEAD + SSHD.replace("0100007F", "0100"),
        HEAD + SSHD.replace(" 1000 ", " root "),
        HEAD + SSHD.replace(" 0A ", " LISTEN "),
        HEAD + "garbage\n",
    ],
)
def test_what_is_no_such_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="of sockets"):
        parse_tcp(text)


@given(st.text() | st.text(alphabet="0123456789ABCDEF: \n").map(lambda text: HEAD + text))
def test_no_garbage_is_an_empty_table(text: str) -> None:
    try:
        found = parse_tcp(text)
    except ValueError:
        return
    assert "local_address" in text.splitlines()[0]
    assert all(0 <= socket.port <= 65535 for socket in found)


def test_asks_for_a_port_at_an_address() -> None:
    every, loopback = Socket("::", 1, 0), Socket("127.0.0.1", 2, 0)
    listeners = Listeners((every, loopback))
    assert listeners.on(1, "10.0.0.1") == every
    assert listeners.on(2) == loopback
    assert listeners.on(2, "10.0.0.1") is None
    assert listeners.on(3) is None


CLEAN = recorded("clean_gpu_node")
OVER_IPV4 = (Socket("0.0.0.0", 22, 0), Socket("0.0.0.0", 6818, 0), Socket("127.0.0.1", 6010, 1000))


def look(machine: Machine) -> Listeners:
    found = sockets.look(machine, host.look(machine))
    assert isinstance(found, Listeners)
    return found


def test_reads_both_tables() -> None:
    assert look(CLEAN) == Listeners((*OVER_IPV4, Socket("::", 22, 0)))


def test_a_kernel_may_lack_ipv6() -> None:
    assert look(CLEAN.but({"read /proc/net/tcp6": {"absent": "/proc/net/tcp6"}})) == Listeners(OVER_IPV4)


@pytest.mark.parametrize("path", ["/proc/net/tcp", "/proc/net/tcp6"])
def test_garbage_is_not_looked(path: str) -> None:
    with pytest.raises(CouldNotLook, match="heading is missing"):
        look(CLEAN.but({f"read {path}": [""]}))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_finds_a_real_one_and_its_owner() -> None:
    machine = LocalMachine()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert look(machine).on(port) == Socket("127.0.0.1", port, machine.identity().uid)
