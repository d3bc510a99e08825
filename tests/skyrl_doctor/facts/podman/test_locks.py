"""libpod's segment of locks, on machines whose mutexes differ in size."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import PLACES, STORE, XDG, Bare, lock_table, store
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.podman.database import Container, Database
from skyrl_doctor.facts.podman.helpers import podman_helpers
from skyrl_doctor.facts.podman.locks import (
    HeldLock,
    LockTable,
    PodmanHeldLocks,
    PodmanLocks,
    parse_lock_table,
    podman_held_locks,
    podman_locks,
)
from skyrl_doctor.facts.podman.processes import podman_processes
from skyrl_doctor.facts.podman.settings import BrokenFile, EngineConf


@pytest.mark.parametrize("mutex", [40, 48])
def test_counts_locks(mutex: int) -> None:
    assert parse_lock_table(lock_table([0xFFFFFFFF, 0b101], mutex=mutex)) == LockTable(total=64, used=34)
    assert parse_lock_table(lock_table([0] * 64, mutex=mutex)) == LockTable(total=2048, used=0)


def test_the_segment_of_a_default_podman_has_this_size() -> None:
    """Seen of podman 4.3.1 on x86-64: 2048 locks are 82488 bytes, 32 are 1344."""
    assert (len(lock_table([0] * 64)), len(lock_table([0]))) == (82488, 1344)


def test_what_is_no_segment_is_strange() -> None:
    assert parse_lock_table(b"") == LockTable(unusable="it has 0 bytes")
    assert parse_lock_table(b"\0" * 1344) == LockTable(unusable="it begins with 0x0000, not 0x87d1")


def test_another_layout_is_unknown_not_empty() -> None:
    cut = lock_table([0xFFFFFFFF])[:1000]
    assert parse_lock_table(cut) == LockTable(unknown="its layout is unknown (1000 bytes)")


@given(st.binary(max_size=3000))
def test_no_bytes_crash_or_count_as_free(data: bytes) -> None:
    for found in (parse_lock_table(data), parse_lock_table(b"\xd1\x87" + data)):
        assert found.total or found.unusable or found.unknown


def test_podman_rounds_up_to_whole_groups() -> None:
    assert [PodmanLocks(kind="shm", path="/x", configured=n).expected for n in (1, 32, 33, 2048)] == [32, 32, 64, 2048]


def test_a_holder_is_named_as_far_as_it_is_known() -> None:
    unnamed = (
        "a process that the kernel does not name here (another node, another container, or a lock of an open file)"
    )
    assert [
        HeldLock(path="/l", pid=7, name="podman", command="podman pull x").holder,
        HeldLock(path="/l", pid=7, name="podman").holder,
        HeldLock(path="/l", pid=7).holder,
        HeldLock(path="/l", pid=None).holder,
    ] == ["pid 7 (podman pull x)", "pid 7 (podman)", "pid 7 (command unknown)", unnamed]


GRAPH = PLACES.graph_root


STATUS = "Name:\tconmon\nState:\tS (sleeping)\nUid:\t1000\t1000\n"


@pytest.mark.parametrize(
    "look", [podman_processes, podman_locks, podman_held_locks, lambda *facts: podman_helpers(*facts, None)]
)
def test_a_broken_configuration_leaves_them_unknown(look: Any) -> None:
    with pytest.raises(CouldNotLook, match=r"\(POD006\)$"):
        look(Bare({}), store(broken=(BrokenFile("s.conf", "is empty"),)))


def test_locks_of_either_kind() -> None:
    segment = "/dev/shm/libpod_rootless_lock_1000"
    data = base64.b64encode(lock_table([0b1011])).decode()
    machine = Bare({f"read {segment}": {"base64": data}})
    known = Database(path="x", containers=(Container(id="a"),), pod_locks=1)
    assert podman_locks(machine, store(database=known)) == PodmanLocks(
        kind="shm", path=segment, configured=2048, table=LockTable(total=32, used=3), known=2
    )
    assert podman_locks(Bare({}), store(database=Database(path="x", damage="d"))) == PodmanLocks(
        kind="shm", path=segment, configured=2048
    )
    files = podman_locks(Bare({}), store(engine=EngineConf(lock_type="file", num_locks=0)))
    assert files == PodmanLocks(kind="file", path=f"{XDG}/libpod/tmp/locks", configured=2048, known=0)
    assert podman_locks(Bare({}), store(uid=0)).path == "/dev/shm/libpod_lock"


def test_held_locks_are_those_of_both_looks() -> None:
    storage, layers = f"{GRAPH}/storage.lock", f"{GRAPH}/overlay-layers/layers.lock"
    machine = Bare(
        {
            f"lock {storage}": 7,
            f"lock {layers}": -1,
            f"lock {XDG}/libpod/tmp/alive.lck": {"unreadable": "alive.lck", "why": "tells nothing"},
            "read /proc/7/cmdline": "podman\0pull\0x\0",
            "read /proc/7/status": STATUS.replace("conmon", "podman"),
            "readlink /proc/7/ns/user": "user:[2]",
        }
    )
    assert podman_held_locks(machine, STORE) == PodmanHeldLocks(
        held=(
            HeldLock(path=storage, pid=7, name="podman", command="podman pull x", state="S"),
            HeldLock(path=layers, pid=None),
        ),
        apart_s=0.5,
        unread=("alive.lck: tells nothing",),
    )
    assert podman_held_locks(Bare({}), STORE) == PodmanHeldLocks(held=(), apart_s=0.0)


class Moving(Bare):
    """Another process has the lock at each look."""

    def lock_holder(self, path: str) -> int | None:
        self.count = getattr(self, "count", 100) + 1
        return self.count if path.endswith("storage.lock") else None


def test_a_lock_that_goes_from_hand_to_hand_is_not_held() -> None:
    assert podman_held_locks(Moving({}), STORE).held == ()
