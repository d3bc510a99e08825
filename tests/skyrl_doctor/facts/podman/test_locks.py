"""libpod's segment of locks, on machines whose mutexes differ in size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.podman_store import lock_table
from skyrl_doctor.facts.podman.locks import HeldLock, LockTable, PodmanLocks, parse_lock_table


@pytest.mark.parametrize("mutex", [40, 48])
def test_counts_locks(mutex: int) -> None:
    assert parse_lock_table(lock_table([0xFFFFFFFF, 0b101], mutex=mutex)) == LockTable(total=64, used=34)
    assert parse_lock_table(lock_table([0] * 64, mutex=mutex)) == LockTable(total=2048, used=0)


def test_the_segment_of_a_default_podman_has_this_size() -> None:
    """Seen of podman 4.3.1 on x86-64: 2048 locks are 82488 bytes, 32 are 1344."""
    assert (len(lock_table([0] * 64)), len(lock_table([0]))) == (82488, 1344)


def test_what_is_no_segment_is_strange() -> None:
    assert parse_lock_table(b"") == LockTable(strange="it has 0 bytes")
    assert parse_lock_table(b"\0" * 1344) == LockTable(strange="it begins with 0x0000, not 0x87d1")


def test_another_layout_is_unknown_not_empty() -> None:
    cut = lock_table([0xFFFFFFFF])[:1000]
    assert parse_lock_table(cut) == LockTable(
        unknown="its 1000 bytes are laid out in a way that the doctor does not know"
    )


@given(st.binary(max_size=3000))
def test_no_bytes_crash_or_count_as_free(data: bytes) -> None:
    for found in (parse_lock_table(data), parse_lock_table(b"\xd1\x87" + data)):
        assert found.total or found.strange or found.unknown


def test_podman_rounds_up_to_whole_groups() -> None:
    assert [PodmanLocks(kind="shm", path="/x", configured=n).wanted for n in (1, 32, 33, 2048)] == [32, 32, 64, 2048]


def test_a_holder_is_named_as_far_as_it_is_known() -> None:
    unnamed = (
        "a process that the kernel does not name here (another node, another container, or a lock of an open file)"
    )
    assert [
        HeldLock(path="/l", pid=7, name="podman", command="podman pull x").holder,
        HeldLock(path="/l", pid=7, name="podman").holder,
        HeldLock(path="/l", pid=7).holder,
        HeldLock(path="/l", pid=None).holder,
    ] == ["pid 7 (podman pull x)", "pid 7 (podman)", "pid 7 (its command cannot be read)", unnamed]
