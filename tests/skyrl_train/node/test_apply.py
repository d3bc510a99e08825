"""Making what a Preparation names: ours alone, twice without effect."""

import os
from pathlib import Path

import pytest

from skyrl_train.node.apply import NotOurs, apply
from skyrl_train.node.settings import Directory, Preparation, TextFile


def preparation(root: Path) -> Preparation:
    return Preparation(
        directories=(Directory(path=str(root / "job")), Directory(path=str(root / "job" / "run"))),
        files=(TextFile(path=str(root / "job" / "storage.conf"), text="[storage]\n"),),
    )


def test_makes_it_once(tmp_path: Path) -> None:
    wanted = preparation(tmp_path)
    made = (str(tmp_path / "job"), str(tmp_path / "job" / "run"), str(tmp_path / "job" / "storage.conf"))
    assert apply(wanted) == made
    assert apply(wanted) == ()
    assert sorted(path.name for path in (tmp_path / "job").iterdir()) == ["run", "storage.conf"]
    assert (tmp_path / "job").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "job" / "storage.conf").stat().st_mode & 0o777 == 0o600


def test_a_changed_file_and_a_wide_directory_are_put_right(tmp_path: Path) -> None:
    apply(preparation(tmp_path))
    (tmp_path / "job" / "storage.conf").write_text("other", encoding="utf-8")
    (tmp_path / "job").chmod(0o777)
    assert apply(preparation(tmp_path)) == (str(tmp_path / "job"), str(tmp_path / "job" / "storage.conf"))
    assert (tmp_path / "job" / "storage.conf").read_text(encoding="utf-8") == "[storage]\n"


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "job").symlink_to("elsewhere")
    with pytest.raises(NotOurs, match="job is not a directory of this user"):
        apply(preparation(tmp_path))
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a directory of somebody else's")
def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    os.chown(tmp_path / "job", 12345, 12345)
    with pytest.raises(NotOurs, match="owner: 12345"):
        apply(preparation(tmp_path))
