"""A kill at every change of the disk, in verl's save and in ours, and what the next start finds."""

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from checkpoint_files import Wrote, killed_at, save
from skyrl_train.checkpoints import finish, prune, resume_from, survey


@pytest.fixture
def place() -> Iterator[Path]:
    """In memory where that is possible: each case waits for the disk hundreds of times."""
    memory = "/dev/shm"
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as path:
        yield Path(path)


def step(root: Path, number: int, *, critic: bool = False, seed: int = 0, keep: int = 2) -> Callable[[Wrote], None]:
    def work(wrote: Wrote) -> None:
        save(root, number, critic=critic, seed=seed, wrote=wrote)
        finish(str(root), number, critic=critic)
        prune(str(root), keep=keep)

    return work


def every_kill(
    prepare: Callable[[Path], object], work: Callable[[Path], Callable[[Wrote], None]], tmp: Path
) -> set[int]:
    """The steps that a start went on from, over all moments of a kill; a second start says the same as the first."""
    found: set[int] = set()
    before = tmp / "before"
    before.mkdir()
    prepare(before)
    for moment in count():
        root = tmp / str(moment)
        shutil.copytree(before, root)
        died = killed_at(moment, work(root))
        first = resume_from(str(root), ranks=1)
        assert resume_from(str(root), ranks=1)[:2] == first[:2]
        assert all(one.complete for one in survey(str(root)).saved if one.step == first.step)
        found.add(first.step)
        if not died:
            assert moment > 20
            return found
    raise AssertionError


def test_the_first_save_begins_anew_until_it_is_whole(place: Path) -> None:
    assert every_kill(Path.exists, lambda root: step(root, 1), place) == {0, 1}


def two_steps(root: Path) -> None:
    for number in (1, 2):
        save(root, number)
        finish(str(root), number)


@pytest.mark.parametrize("critic", [False, True])
def test_a_kill_in_the_third_save_leaves_the_second_or_the_third(place: Path, critic: bool) -> None:
    def prepare(root: Path) -> None:
        for number in (1, 2):
            save(root, number, critic=critic)
            finish(str(root), number)

    assert every_kill(prepare, lambda root: step(root, 3, critic=critic, keep=1), place) == {2, 3}


def test_saving_a_step_again_never_mixes_two_saves(place: Path) -> None:
    """A run that went back to step 1 writes over step 2: every file has its old size, and half of them are new."""

    def prepare(root: Path) -> None:
        two_steps(root)
        save(root, 1, seed=1)
        finish(str(root), 1)

    assert every_kill(prepare, lambda root: step(root, 2, seed=77), place) == {1, 2}
    for root in place.iterdir():
        if survey(str(root)).last_good.step == 2:  # type: ignore[union-attr]
            assert len({one.read_bytes() for one in (root / "global_step_2" / "actor").glob("*_rank_0.pt")}) == 1


def test_saves_of_verl_alone_are_repaired_too(place: Path) -> None:
    """No mark, no finish: a kill while verl itself writes step 2 leaves step 1."""

    def prepare(root: Path) -> None:
        save(root, 1)

    def work(root: Path) -> Callable[[Wrote], None]:
        return lambda wrote: save(root, 2, wrote=wrote) and None

    assert every_kill(prepare, work, place) == {1, 2}


def test_a_cut_deletion_is_finished_by_the_next(place: Path) -> None:
    before = place / "before"
    for number in (1, 2, 3):
        save(before, number)
        finish(str(before), number)
    for moment in count():
        root = place / str(moment)
        shutil.copytree(before, root)
        died = killed_at(moment, lambda _, at=root: prune(str(at), keep=1) and None)
        assert resume_from(str(root)).step == 3
        prune(str(root), keep=1)
        assert sorted(path.name for path in root.iterdir()) == ["global_step_3", "latest_checkpointed_iteration.txt"]
        if not died:
            return
