"""Images as a real Podman saves them, packed by the real zstd, looked into by the doctor's program."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyrl_doctor.children
from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE, Lab
from skyrl_doctor.facts.images.archived import parse_archives
from skyrl_doctor.facts.images.stored import Node, StoredImage

pytestmark = pytest.mark.podman
CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("archive_paths.py")
SAVED = {
    "docker": "podman save -q -o OUT IMAGE",
    "oci": "podman save -q --format oci-archive -o OUT IMAGE",
    "directory": "podman save -q --format oci-dir -o OUT IMAGE",
    "docker.zst": "podman save -q IMAGE | zstd -q -o OUT",
    "oci.zst": "podman save -q --format oci-archive IMAGE | zstd -q -o OUT",
    "layers": "podman push -q --compression-format zstd IMAGE oci:OUT",
    "layers in an archive": "podman push -q --compression-format zstd IMAGE oci-archive:OUT",
    "layers in a packed one": "podman push -q --compression-format zstd IMAGE oci:OUT.d && tar -C OUT.d -c . | zstd -q -o OUT",
}


PATHS = ("/r2e_tests", "/testbed/run_tests.sh", "/root/run_tests.sh")


@pytest.fixture(scope="module")
def lab(new_lab: NewLab, image_archive: Path) -> Iterator[Lab]:
    """With an image whose tests and script are in layers of their own."""
    made = new_lab()
    assert made.podman("load", "-q", "-i", str(image_archive)).returncode == 0
    text = f"FROM {IMAGE}\\nCOPY Containerfile /r2e_tests/\\nCOPY Containerfile /testbed/run_tests.sh\\n"
    line = f"mkdir home/two && printf '{text}' > home/two/Containerfile && podman build -q -t two home/two"
    done = made.run(["sh", "-c", line])
    assert done.returncode == 0, done.stdout
    yield made
    made.close()


@pytest.mark.parametrize("how", SAVED)
def test_what_lies_in_it_is_told(lab: Lab, how: str) -> None:
    out = f"home/{how.replace(' ', '_')}.tar"
    done = lab.run(["sh", "-c", SAVED[how].replace("IMAGE", "localhost/two").replace("OUT", out)])
    assert done.returncode == 0, done.stdout
    archive = str(lab.base / out)
    image = told_of(archive)
    kinds = {path: node.kind if isinstance(node, Node) else None for path, node in image.nodes.items()}
    assert kinds == {"/r2e_tests": "dir", "/testbed/run_tests.sh": "file", "/root/run_tests.sh": None}, image.unread


@pytest.mark.parametrize("cut", [20, -20])
def test_one_that_is_cut_off_says_so(lab: Lab, cut: int) -> None:
    out = f"home/cut{cut}.tar.zst"
    line = f"podman save -q localhost/two | zstd -q | head -c {cut} > {out}"
    assert lab.run(["sh", "-c", line]).returncode == 0
    archive = str(lab.base / out)
    image = told_of(archive)
    assert (image.nodes, ": None" in image.unread[0]) == ({}, False)


def told_of(archive: str) -> StoredImage:
    words = [sys.executable, "-B", str(CHILD), "60", ",".join(PATHS), archive]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    (image,) = parse_archives(done.stdout, {archive: "two"})
    return image
