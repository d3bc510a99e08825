"""Paths are followed link by link, on a real file system."""

from pathlib import Path

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.probes.places import Place, place_of

MACHINE = LocalMachine({})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_a_plain_directory(root: Path) -> None:
    assert place_of(MACHINE, str(root)) == Place(str(root), str(root), "dir")
    assert place_of(MACHINE, "/") == Place("/", "/", "dir")


def test_what_is_not_there_yet(root: Path) -> None:
    place = place_of(MACHINE, f"{root}/a/../b/c")
    assert (place, place.exists) == (Place(f"{root}/b/c", str(root), "dir"), False)


def test_links_relative_absolute_and_upwards(root: Path) -> None:
    (root / "real" / "deep").mkdir(parents=True)
    (root / "relative").symlink_to("real/deep")
    (root / "absolute").symlink_to(root / "relative")
    (root / "real" / "up").symlink_to("../real")
    assert place_of(MACHINE, f"{root}/absolute/new") == Place(f"{root}/real/deep/new", f"{root}/real/deep", "dir")
    assert place_of(MACHINE, f"{root}/real/up/deep").resolved == f"{root}/real/deep"
    assert place_of(MACHINE, f"{root}/relative/..").resolved == f"{root}/real"
    assert place_of(MACHINE, "real", cwd=str(root)).resolved == f"{root}/real"


def test_a_dangling_link_leads_where_it_says(root: Path) -> None:
    (root / "dangling").symlink_to(root / "gone" / "cache")
    assert place_of(MACHINE, f"{root}/dangling/x") == Place(f"{root}/gone/cache/x", str(root), "dir")


def test_a_file_in_the_way(root: Path) -> None:
    (root / "file").write_text("")
    assert place_of(MACHINE, f"{root}/file/below") == Place(f"{root}/file/below", f"{root}/file", "file")


def test_a_circle_ends(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    with pytest.raises(CouldNotLook, match="too many links"):
        place_of(MACHINE, f"{root}/one")
