"""Paths are followed link by link, on a real file system."""

from pathlib import Path

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.paths import ResolvedPath, resolve_links

MACHINE = LocalMachine({})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_a_plain_directory(root: Path) -> None:
    assert resolve_links(MACHINE, str(root)) == ResolvedPath(str(root), str(root), "dir")
    assert resolve_links(MACHINE, "/") == ResolvedPath("/", "/", "dir")


def test_what_is_not_there_yet(root: Path) -> None:
    place = resolve_links(MACHINE, f"{root}/a/../b/c")
    assert (place, place.exists) == (ResolvedPath(f"{root}/b/c", str(root), "dir"), False)


def test_links_relative_absolute_and_upwards(root: Path) -> None:
    (root / "real" / "deep").mkdir(parents=True)
    (root / "relative").symlink_to("real/deep")
    (root / "absolute").symlink_to(root / "relative")
    (root / "real" / "up").symlink_to("../real")
    assert resolve_links(MACHINE, f"{root}/absolute/new") == ResolvedPath(
        f"{root}/real/deep/new", f"{root}/real/deep", "dir"
    )
    assert resolve_links(MACHINE, f"{root}/real/up/deep").resolved == f"{root}/real/deep"
    assert resolve_links(MACHINE, f"{root}/relative/..").resolved == f"{root}/real"
    assert resolve_links(MACHINE, "real", cwd=str(root)).resolved == f"{root}/real"


def test_a_dangling_link_leads_where_it_says(root: Path) -> None:
    (root / "dangling").symlink_to(root / "gone" / "cache")
    assert resolve_links(MACHINE, f"{root}/dangling/x") == ResolvedPath(f"{root}/gone/cache/x", str(root), "dir")


def test_a_file_in_the_way(root: Path) -> None:
    (root / "file").write_text("")
    assert resolve_links(MACHINE, f"{root}/file/below") == ResolvedPath(f"{root}/file/below", f"{root}/file", "file")


def test_a_circle_ends(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    with pytest.raises(CouldNotLook, match="too many links"):
        resolve_links(MACHINE, f"{root}/one")
