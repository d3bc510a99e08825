"""Where a server listens: at the one address that the other job reaches its node by."""

import socket
from collections.abc import Mapping

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.runtime.options import AUTO, address_of

IN_JOB = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "cpu1"}


class Network:
    """What names mean here, and which address this host would send from; None where it has no way out."""

    def __init__(self, names: Mapping[str, str], way_out: str | None = None) -> None:
        self.names, self.way_out = names, way_out

    def getaddrinfo(self, name: str, _port: None, **_words: object) -> list[tuple[object, ...]]:
        if name not in self.names:
            raise socket.gaierror(-2, "Name or service not known")
        return [(0, 0, 0, "", (self.names[name], 0))]

    def socket(self, *_kind: object) -> "Network":
        return self

    def __enter__(self) -> "Network":
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def connect(self, _address: object) -> None:
        if self.way_out is None:
            raise OSError(101, "Network is unreachable")

    def getsockname(self) -> tuple[str | None, int]:
        return self.way_out, 0


@pytest.mark.parametrize(
    ("names", "way_out", "address"),
    [
        ({"cpu1": "10.0.0.7", "host": "10.0.0.8"}, None, "10.0.0.7"),
        ({"host": "10.0.0.8"}, None, "10.0.0.8"),  # Slurm's name of the node is not one of the network's
        ({"cpu1": "127.0.1.1", "host": "127.0.1.1"}, "10.0.0.9", "10.0.0.9"),  # as Debian's /etc/hosts has it
        ({}, "10.0.0.9", "10.0.0.9"),
        ({"cpu1": "127.0.1.1"}, None, "127.0.1.1"),
        ({}, None, "127.0.0.1"),
        ({"cpu1": "fe80::1%eth0"}, None, "fe80::1%eth0"),
    ],
)
def test_in_a_job_of_slurm(
    names: Mapping[str, str], way_out: str | None, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Network(names, way_out)
    monkeypatch.setattr(socket, "getaddrinfo", network.getaddrinfo)
    monkeypatch.setattr(socket, "gethostname", lambda: "host")
    monkeypatch.setattr(socket, "socket", network.socket)
    assert address_of(AUTO, IN_JOB) == address


def test_outside_of_slurm_nobody_else_can_reach_it() -> None:
    assert address_of(AUTO, {}) == "127.0.0.1"


def test_a_host_that_was_named_is_taken_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Network({"a": "10.0.0.7", "0.0.0.0": "0.0.0.0"}).getaddrinfo)
    assert address_of("a", IN_JOB) == "10.0.0.7"
    with pytest.raises(UsageError, match="--host b is no address of this node: Name or service not known"):
        address_of("b", IN_JOB)
    with pytest.raises(UsageError, match="would listen on every network"):
        address_of("0.0.0.0", IN_JOB)
