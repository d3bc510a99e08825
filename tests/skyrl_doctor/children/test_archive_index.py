"""The program that judges archives of images by their indexes, run as the doctor runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import skyrl_doctor.children
from image_archives import BAD, DOCKER, GOOD, directories, gz, tar

CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("archive_index.py")


def told(at: Path, *names: str, seconds: str = "30", before: Sequence[str] = ()) -> dict[str, Any]:
    words = [*before, sys.executable, "-B", str(CHILD), seconds, str(at), *names]
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, timeout=300, check=True)
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told_of(at: Path, contents: dict[str, bytes]) -> dict[str, Any]:
    for name, content in contents.items():
        (at / name).write_bytes(content)
    return told(at, *contents)


def test_what_podman_loads_is_good(tmp_path: Path) -> None:
    assert told_of(tmp_path, GOOD) == {"read": len(GOOD), "bad": {}, "unread": {}}


def test_what_is_no_archive_says_why(tmp_path: Path) -> None:
    found = told_of(tmp_path, {name: content for name, (content, _) in BAD.items()})
    assert found == {"read": len(BAD), "bad": {name: why for name, (_, why) in BAD.items()}, "unread": {}}


def test_directories(tmp_path: Path) -> None:
    expected = directories(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    expected["fifo"] = "is neither a file nor a directory"
    bad = {name: why for name, why in expected.items() if why}
    assert told(tmp_path, *expected) == {"read": len(expected), "bad": bad, "unread": {}}


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(DOCKER)
    (tmp_path / "a").chmod(0)
    mere = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.getuid() == 0 else ()
    assert told(tmp_path, "a", before=mere)["bad"] == {"a": "cannot be read: permission denied"}


def test_what_cannot_be_judged_is_not_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    many = tar([(str(number), b"") for number in range(10_001)])
    found = told_of(tmp_path, {"zstd": b"\x28\xb5\x2f\xfd" + bytes(100), "twice": gz(gz(DOCKER)), "many": many})
    assert found["bad"] == {}
    assert found["unread"] == {
        "zstd": "is packed with zstd, but PATH has no zstd program",
        "twice": "is packed twice",
        "many": "has more than 10000 entries",
    }


def test_a_large_packed_archive_is_judged_by_its_start(tmp_path: Path) -> None:
    """Its index comes after more than is read."""
    large = gz(tar([("layer.tar", os.urandom(17 << 20))]))
    assert told_of(tmp_path, {"large": large}) == {"read": 1, "bad": {}, "unread": {}}


def test_time_that_runs_out_leaves_the_rest_unread(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert told(tmp_path, "a", "a", seconds="-1") == {"read": 0, "bad": {}, "unread": {}}
