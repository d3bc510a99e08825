"""The listening sockets."""

import socket
import sys

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.sockets import Listeners, Socket
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.probes.host import host
from skyrl_doctor.probes.sockets import sockets
from support import recorded

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
