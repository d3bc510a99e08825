"""Archives of the dataset's images, judged by the program that reads their indexes, as it runs."""

from pathlib import Path

import pytest

from image_archives import DOCKER
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.images.archive_indexes import ArchiveFault, ArchiveIndexes, archive_indexes, parse_indexes
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.contracts.tasks.images import TaskImage


def look(directory: Path, *names: str) -> ArchiveIndexes:
    named = tuple(TaskImage(name, "r2e-gym") for name in names)
    needed = NeededImages(files=(), rows=len(names), without=0, named=named, prefix="docker.io/")
    supply = ImageSupply(archive=str(directory), archives=frozenset(path.name for path in directory.iterdir()))
    return archive_indexes(LocalMachine({}), needed, supply)


def test_tells_which_of_the_needed_archives_are_bad(tmp_path: Path) -> None:
    (tmp_path / "docker.io_a_b_1.tar").write_bytes(DOCKER)
    for name in ("docker.io_a_c_1.tar.gz", "docker.io_a_other_1.tar"):
        (tmp_path / name).touch()
    assert look(tmp_path, "a/b:1", "a/c:1", "a/d:1") == ArchiveIndexes(
        read=2, of=2, bad=(ArchiveFault("docker.io_a_c_1.tar.gz", "docker.io/a/c:1", "is empty"),)
    )


def test_without_an_archive_of_the_dataset_it_does_not_apply(tmp_path: Path) -> None:
    (tmp_path / "docker.io_a_other_1.tar").touch()
    with pytest.raises(NotApplicable, match="no image of the dataset has an archive"):
        look(tmp_path, "a/b:1")


def test_what_was_not_asked_for_is_left_out() -> None:
    text = '{"read": 1, "bad": {"x": "is empty"}, "unread": {"a": "is packed twice"}}'
    assert parse_indexes(text, {"a": "b"}, 3) == ArchiveIndexes(
        read=1, of=3, unread=(ArchiveFault("a", "b", "is packed twice"),)
    )


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"read": -1, "bad": {}, "unread": {}}', '{"read": 1, "bad": [], "unread": {}}']
)
def test_an_odd_answer_is_no_answer(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_indexes(text, {"y": "box"}, 1)
