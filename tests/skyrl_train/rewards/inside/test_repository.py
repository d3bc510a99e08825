"""What the agent's sandbox says that it changed."""

import base64
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from skyrl_train.rewards.inside import repository
from skyrl_train.rewards.inside.repository import TooLargeError, changes


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("R2E_ROOT", str(tmp_path))
    made = tmp_path / "testbed"
    for name in ("a.py", "pkg/b.py", ".git/config", ".venv/x", "env/pyvenv.cfg", "env/y", "pkg/__pycache__/b.pyc"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(name)
    return made


def texts(found: dict[str, Any]) -> dict[str, str]:
    return {each["path"]: zlib.decompress(base64.b64decode(each["data"])).decode() for each in found["files"]}


def test_all_paths_and_the_content_of_what_is_new(root: Path) -> None:
    (root / "link").symlink_to("a.py")
    os.mkfifo(root / "fifo")
    found = changes(0)
    assert sorted(found["paths"]) == ["a.py", "link", "pkg/b.py"]
    assert {"path": "link", "link": "a.py"} in found["files"]
    found["files"].remove({"path": "link", "link": "a.py"})
    assert texts(found) == {"a.py": "a.py", "pkg/b.py": "pkg/b.py"}


def test_nothing_is_new_after_its_time(root: Path) -> None:
    os.utime(root / "a.py", (4e9, 4e9))
    found = changes(os.stat(root / "a.py").st_ctime + 1)
    assert (sorted(found["paths"]), found["files"], found["left_out"]) == (["a.py", "pkg/b.py"], [], [])


def test_what_is_too_large_is_left_out_and_the_small_files_are_kept(root: Path) -> None:
    (root / "noise.bin").write_bytes(os.urandom(3 << 20))
    (root / "huge.bin").touch()
    os.truncate(root / "huge.bin", 1 << 40)
    found = changes(0)
    assert sorted(texts(found)) == ["a.py", "pkg/b.py"]
    assert found["left_out"] == ["noise.bin", "huge.bin"]


def test_a_repository_with_too_many_files_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "MOST_FILES", 1)
    with pytest.raises(TooLargeError, match="more than 1 files"):
        changes(0)
