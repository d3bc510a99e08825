"""Files that are there whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from skyrl_train.contracts import files


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    files.write_whole(str(path), "old")
    files.write_whole(str(path), "né\n", mode=0o600)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("né\n", 0o600)
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_secret_is_not_written_into_what_others_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process of the same number may have left its half of another file."""
    path = tmp_path / "key"
    left = tmp_path / f"key.{os.getpid()}.tmp"
    left.write_text("half")
    left.chmod(0o644)
    modes = list[int]()
    monkeypatch.setattr(files.os, "fsync", lambda number: modes.append(stat.S_IMODE(os.fstat(number).st_mode)))
    files.write_whole(str(path), "secret", mode=0o600)
    assert (modes, path.read_text()) == ([0o600], "secret")


def test_the_old_text_stays_where_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "tracker"
    path.write_text("7")
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write_whole(str(path), "8")
    assert (path.read_text(), os.listdir(tmp_path)) == ("7", ["tracker"])
