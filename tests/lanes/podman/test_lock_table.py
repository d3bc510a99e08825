"""POD005 against real podman: the segment in /dev/shm, full, of another size, and damaged."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.podman.conftest import NewLab, load
from lanes.podman.lab import IMAGE, Lab
from skyrl_doctor.core.model import Outcome, Status

pytestmark = pytest.mark.podman
CLEAN = Outcome(id="POD005", slug="locks-exhausted", status=Status.PASS)
TOTAL = 32


@pytest.fixture
def shared(stocked: NewLab) -> Iterator[Lab]:
    """A store with Podman's default kind of locks, few of them. The lane's user has the segment to itself."""
    lab = stocked(f"num_locks = {TOTAL}")
    if lab.user.is_self:
        pytest.skip("the lock segment of a person's own user is left alone")
    yield lab
    segment(lab).unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _no_segment_yet(lane_user: object) -> None:
    uid = getattr(lane_user, "uid", 0)
    if not getattr(lane_user, "is_self", True):
        Path(f"/dev/shm/libpod_rootless_lock_{uid}").unlink(missing_ok=True)


def segment(lab: Lab) -> Path:
    return Path(f"/dev/shm/libpod_rootless_lock_{lab.user.uid}")


def fill(lab: Lab) -> None:
    """Containers that never run, in one process: they are made of the same words over and over."""
    made = lab.run(["sh", "-c", f"for i in $(seq {TOTAL}); do podman create --pull=never {IMAGE} true || exit; done"])
    assert made.returncode == 0, made.stdout


def message(outcome: Outcome) -> str:
    (finding,) = outcome.findings
    return finding.message


def test_locks_are_counted_and_freed(shared: Lab, image_archive: Path) -> None:
    """Pruning frees those that containers have, numbering anew those that a deleted store kept."""
    assert shared.doctor("POD005") == CLEAN
    fill(shared)
    before = shared.listing()
    found = shared.doctor("POD005")
    assert shared.listing() == before
    assert message(found) == (
        "32 of 32 locks are in use, 32 of them by containers and pods of this store; expected fewer than 28"
    )
    refused = shared.sandbox()
    assert (refused.returncode, "exceeded num_locks" in refused.stdout) == (125, True)
    full = segment(shared).read_bytes()
    shared.heal(found)
    assert (shared.sandbox().returncode, shared.doctor("POD005")) == (0, CLEAN)
    fresh = shared.forgotten()
    segment(shared).write_bytes(full)  # as it would be, had nobody pruned
    load(fresh, image_archive)
    leaked = fresh.doctor("POD005")
    assert message(leaked) == (
        "32 of 32 locks are in use, 0 of them by containers and pods of this store; expected fewer than 28"
    )
    assert "exceeded num_locks" in fresh.sandbox().stdout
    fresh.heal(leaked)
    assert (fresh.sandbox().returncode, fresh.doctor("POD005")) == (0, CLEAN)


def test_a_segment_of_another_size_is_found_and_removing_it_heals(shared: Lab) -> None:
    conf = shared.base / "containers.conf"
    conf.write_text(conf.read_text().replace(f"num_locks = {TOTAL}", "num_locks = 100"))
    found = shared.doctor("POD005")
    assert message(found) == f"{segment(shared)} has 32 locks; expected 128 (num_locks = 100)"
    refused = shared.sandbox()
    assert (refused.returncode, "numerical result out of range" in refused.stdout) == (125, True)
    shared.heal(found)
    assert (shared.sandbox().returncode, shared.doctor("POD005")) == (0, CLEAN)


def test_a_segment_that_is_none_is_found_and_removing_it_heals(shared: Lab) -> None:
    with segment(shared).open("r+b") as file:
        file.write(b"\0\0")
    found = shared.doctor("POD005")
    assert message(found) == (
        f"{segment(shared)} is not a lock segment: it begins with 0x0000, not 0x87d1; expected one, or no such file"
    )
    assert shared.sandbox().returncode == 125
    shared.heal(found)
    assert (shared.sandbox().returncode, shared.doctor("POD005")) == (0, CLEAN)


def test_lock_files_need_no_segment(lab: Lab) -> None:
    for _ in range(3):
        assert lab.podman("create", "--pull=never", IMAGE, "true").returncode == 0
    assert (lab.doctor("POD005"), segment(lab).exists()) == (CLEAN, False)
