"""Which store a server takes: each fault of POD001 to POD008 is told, set aside or refused; nothing of Podman's is repaired.

Every podman on the PATH of these tests is one that writes down what it was told, and does nothing.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.runtime.engine import EngineUnsureError
from skyrl_train.sandbox.runtime.podman.previous_server import MARK
from skyrl_train.sandbox.runtime.podman.service import Service
from skyrl_train.sandbox.runtime.podman.store_check import CHECKS, Examined, Fault, by_doctor
from skyrl_train.sandbox.runtime.podman.store_directory import Home, find_home

OF_THE_STORE = ("POD001", "POD005", "POD006", "POD007")
OF_THE_NODE = ("POD002", "POD003", "POD008")
NEVER = {"migrate", "reset", "renumber", "prune", "rm", "rmi", "load", "import"}
PODMAN = """#!/bin/sh
echo "$@" >> {record}
case "$*" in *--version*|*version*) echo "podman version 4.3.1"; exit 0;; esac
echo "told: $*" >&2
exit 125
"""


class Node:
    """Its podman only writes down; `told` is what the server says."""

    def __init__(self, base: Path) -> None:
        self.record = base / "record"
        self.record.touch()
        self.stores = base / "stores"
        for name in ("bin", "home"):
            (base / name).mkdir()
        program = base / "bin" / "podman"
        program.write_text(PODMAN.format(record=self.record))
        program.chmod(0o755)
        self.environ = {"PATH": f"{base}/bin:{os.environ['PATH']}", "HOME": f"{base}/home", "USER": "me"}
        self.told: list[tuple[str, dict[str, Any]]] = []

    def find(self, examine: Any) -> Home:
        return asyncio.run(
            find_home(
                self.environ,
                base=str(self.stores),
                uid=os.getuid(),
                kernel="6.1.0",
                examine=examine,
                told=lambda event, **data: self.told.append((event, data)),
            )
        )

    def words(self) -> set[str]:
        return {word for line in self.record.read_text().splitlines() for word in line.split()}


@pytest.fixture
def node() -> Iterator[Node]:
    """In a short place: a socket's path has 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="node", dir="/tmp") as base:
        yield Node(Path(base))


def first_store_has(*faults: str) -> Any:
    seen: list[Mapping[str, str]] = []

    async def examine(environ: Mapping[str, str]) -> Examined:
        seen.append(environ)
        return Examined(tuple(Fault(each, "what is wrong") for each in faults) if len(seen) == 1 else ())

    return examine


def test_every_check_of_a_store_is_one_or_the_other() -> None:
    assert sorted((*OF_THE_STORE, *OF_THE_NODE)) == sorted(CHECKS)


@pytest.mark.parametrize("check_id", OF_THE_STORE)
def test_a_fault_of_the_store_sets_it_aside_and_says_so(node: Node, check_id: str) -> None:
    first = node.find(first_store_has())
    (Path(first.store) / "graph" / "kept").write_text("as it was")
    home = node.find(first_store_has(check_id))
    assert home.store != first.store
    assert home.set_aside == (f"{first.store}: {check_id}: what is wrong",)
    assert node.told == [
        (
            "store set aside",
            {"store": first.store, "why": f"{check_id}: what is wrong", "processes_ended": 0},
        )
    ]
    assert (Path(first.store) / "graph" / "kept").read_text() == "as it was"
    assert node.words() == set()


def test_what_an_earlier_server_left_at_work_is_ended_before_anybody_looks(node: Node) -> None:
    """A build that goes on, or is stopped, holds the store's lock: the doctor would call the store stuck."""
    home = node.find(first_store_has())
    environ = {**os.environ, MARK: home.run_dir}
    service = (sys.executable, "-c", "import signal; signal.pause()", "service", f"unix://{home.socket}")
    left = [
        subprocess.Popen(("sleep", "600"), env=environ, start_new_session=True),
        subprocess.Popen(service, start_new_session=True),
    ]
    other = subprocess.Popen(("sleep", "600"), env={**os.environ, MARK: f"{home.run_dir}-2"}, start_new_session=True)
    seen: list[int | None] = []

    async def examine(_environ: Mapping[str, str]) -> Examined:
        seen.extend(each.poll() for each in left)
        return Examined()

    try:
        left[0].send_signal(signal.SIGSTOP)
        assert node.find(examine).store == home.store
        assert seen == [-signal.SIGKILL, -signal.SIGKILL]
        assert other.poll() is None
    finally:
        for each in (*left, other):
            each.kill()
            each.wait()


@pytest.mark.parametrize("check_id", OF_THE_NODE)
def test_a_fault_of_the_node_is_refused_and_says_so(node: Node, check_id: str) -> None:
    with pytest.raises(UsageError) as refused:
        node.find(first_store_has(check_id))
    assert str(refused.value) == f"no store for sandboxes on this node: {check_id}: what is wrong"
    assert (node.told, node.words()) == ([], set())


def test_a_fault_of_the_node_beside_one_of_the_store_is_refused(node: Node) -> None:
    with pytest.raises(UsageError, match=r"POD001: what is wrong; POD003: what is wrong$"):
        node.find(first_store_has("POD001", "POD003"))


def test_a_node_where_no_store_is_whole_is_refused_in_the_end(node: Node) -> None:
    async def examine(_environ: Mapping[str, str]) -> Examined:
        return Examined((Fault("POD006", "what is wrong"),))

    with pytest.raises(UsageError, match="POD006: what is wrong"):
        node.find(examine)
    assert len(node.told) == 5
    assert node.words() == set()


@pytest.fixture
def damaged(node: Node) -> str:
    """The store of an earlier server of this job, whose book of layers was cut off by a full disk."""
    home = node.find(first_store_has())
    layers = Path(home.store) / "graph" / "overlay-layers" / "layers.json"
    layers.parent.mkdir(parents=True)
    layers.write_text('[{"id": "3f5b1c0e')
    return home.store


def test_with_the_real_doctor_and_a_real_service_nothing_is_repaired(node: Node, damaged: str) -> None:
    """What Podman's own message asks for is run by nobody."""

    async def only_the_damage(environ: Mapping[str, str]) -> Examined:
        found = await by_doctor(environ)  # the machine that runs this test need not be a sandbox node
        return Examined(tuple(fault for fault in found.faults if fault.id == "POD006"))

    home = node.find(only_the_damage)
    assert [event for event, _ in node.told] == ["store set aside"]
    assert node.told[0][1]["store"] == damaged
    with pytest.raises(EngineUnsureError, match="told: system service --time=0"):
        asyncio.run(Service(home.socket, home.environ, lambda _text: None).open())
    assert node.words() >= {"system", "service"}
    assert node.words() & NEVER == set()
