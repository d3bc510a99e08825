"""A real Podman refuses what the doctor calls bad, and loads what it calls good."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyrl_doctor.children
from image_archives import BAD, GOOD, NAME, directories
from lanes.podman.conftest import NewLab
from lanes.podman.lab import Lab

pytestmark = pytest.mark.podman
CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("archive_index.py")


@pytest.fixture(scope="module")
def lab(new_lab: NewLab) -> Iterator[Lab]:
    made = new_lab()
    yield made
    made.close()


def loads(lab: Lab, path: Path) -> bool:
    """Whether Podman has an image more. It also accepts an index without an image."""
    before = lab.podman("images", "-aq", "--no-trunc").stdout
    done = lab.podman("load", "-q", "-i", str(path))
    after = lab.podman("images", "-aq", "--no-trunc").stdout
    lab.podman("rmi", "-af")
    return done.returncode == 0 and after != before


@pytest.mark.parametrize("kind", GOOD)
def test_podman_loads_what_is_good(lab: Lab, kind: str) -> None:
    path = lab.base / "good"
    path.write_bytes(GOOD[kind])
    assert loads(lab, path), NAME


@pytest.mark.parametrize("kind", BAD)
def test_podman_refuses_what_is_bad(lab: Lab, kind: str) -> None:
    path = lab.base / "bad"
    path.write_bytes(BAD[kind][0])
    assert not loads(lab, path)


def test_podman_agrees_on_directories(lab: Lab) -> None:
    at = lab.base / "directories"
    at.mkdir()
    expected = directories(at)
    assert {name: loads(lab, at / name) for name in expected} == {name: not why for name, why in expected.items()}


def test_podman_loads_what_zstd_packed(lab: Lab) -> None:
    """Which the doctor unpacks with the same program."""
    (lab.base / "plain").write_bytes(GOOD["docker"])
    subprocess.run(["zstd", "-q", str(lab.base / "plain"), "-o", str(lab.base / "packed")], check=True)
    words = [sys.executable, "-B", str(CHILD), "30", str(lab.base), "packed"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == {"read": 1, "bad": {}, "unread": {}}
    assert loads(lab, lab.base / "packed")
