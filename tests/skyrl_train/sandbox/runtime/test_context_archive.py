import bz2
import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from build_archives import ATTACKS, WORKS, outcome, outcomes
from skyrl_train.sandbox.runtime import context_archive

PROGRAM = Path(__file__).parents[3] / "build_archives.py"
INSTALLED = sorted(Path.home().glob(".pyenv/versions/3.1[1-9]*/bin/python3"))
PYTHONS = ("/usr/bin/python3", "python3.11", "python3.12", "python3.13", "python3.14", *map(str, INSTALLED))


@pytest.mark.parametrize("label", ATTACKS)
def test_attacks_are_refused(tmp_path: Path, label: str) -> None:
    below = tmp_path / "below"
    below.mkdir()
    assert outcome(ATTACKS[label](), below).startswith("refused: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["below"]
    assert sorted(path.name for path in below.iterdir()) in (["archive"], ["archive", "made"])


@pytest.mark.parametrize("label", WORKS)
def test_honest_archives_are_unpacked(tmp_path: Path, label: str) -> None:
    assert "Dockerfile 100" in outcome(WORKS[label](), tmp_path)


def test_links_and_modes_stay_as_they_were(tmp_path: Path) -> None:
    assert outcome(WORKS["links inside"](), tmp_path) == (
        "Dockerfile 100755 FROM box\n\nd 40755 /\nd/up 120777 ../Dockerfile\nd/x 100755 \nh 100755 \nl 120777 d/x"
    )


def test_too_many_files_and_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_archive, "MOST_FILES", 1)
    assert outcome(WORKS["gzip"](), tmp_path) == "refused: TooLargeError"
    monkeypatch.setattr(context_archive, "MOST_FILES", 10)
    monkeypatch.setattr(context_archive, "MOST_BYTES", 1000)
    shutil.rmtree(tmp_path / "made")
    assert outcome(WORKS["gzip"](), tmp_path) == "refused: TooLargeError"


@pytest.mark.parametrize(
    "packed",
    [gzip.compress(bytes(1 << 22)), gzip.compress(b"") * 40_000, bz2.compress(bytes(1 << 22))],
    ids=["gzip of zeros", "gzip of nothing, very often", "bzip2 of zeros"],
)
def test_what_takes_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bytes) -> None:
    now = iter(range(1000))
    monkeypatch.setattr(context_archive.time, "monotonic", lambda: float(next(now)))
    monkeypatch.setattr(context_archive, "MOST_S", 0.5)
    assert outcome(packed, tmp_path) == "refused: TooLargeError"


@pytest.mark.parametrize("name", PYTHONS)
def test_every_python_does_the_same(name: str) -> None:
    path = shutil.which(name)
    answers = path and subprocess.run([path, "-V"], capture_output=True, timeout=20, check=False).returncode == 0
    if path is None or not answers:
        pytest.skip(f"{name} is not installed")
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([path, str(PROGRAM)], capture_output=True, text=True, timeout=60, check=False, env=env)
    if "No module named" in done.stderr or sys.version_info < (3, 11):
        pytest.skip(f"{name}: {done.stderr[-200:]}")
    assert done.stderr == ""
    assert json.loads(done.stdout) == outcomes()
