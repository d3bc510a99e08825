"""libpod's locks counted, and the store's locks asked for twice."""

import base64
from typing import Any

import pytest

from fakes.podman_store import PLACES, STORE, XDG, Bare, lock_table, store
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.podman.database import Container, Database
from skyrl_doctor.facts.podman.locks import HeldLock, LockTable, PodmanHeldLocks, PodmanLocks
from skyrl_doctor.facts.podman.settings import BrokenFile, EngineConf
from skyrl_doctor.probes.podman.helpers import podman_helpers
from skyrl_doctor.probes.podman.locks import podman_held_locks, podman_locks
from skyrl_doctor.probes.podman.processes import podman_processes

GRAPH = PLACES.graph_root


STATUS = "Name:\tconmon\nState:\tS (sleeping)\nUid:\t1000\t1000\n"


@pytest.mark.parametrize("look", [podman_processes, podman_locks, podman_held_locks, podman_helpers])
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
