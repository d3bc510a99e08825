"""Images that will be loaded from archives, looked into by the program that does it, as it runs."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.images.archived import MOST_ARCHIVES, ArchivedImages, archived_images
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import RUNNERS, TESTS, StoredImages
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.contracts.sandbox.supply import SUFFIXES
from skyrl_train.contracts.tasks.images import TaskImage
from support import plan_of


def packed(at: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(at, "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def image(directory: Path, name: str, *paths: str) -> None:
    """As `podman save` writes it."""
    packed(directory / "layer", {path.strip("/"): b"" for path in paths})
    manifest = json.dumps([{"Layers": ["layer.tar"]}]).encode()
    packed(directory / name, {"layer.tar": (directory / "layer").read_bytes(), "manifest.json": manifest})
    (directory / "layer").unlink()


def look(directory: Path, *names: str, **stored: Any) -> ArchivedImages:
    named = tuple(TaskImage(name, "r2e-gym") for name in names)
    needed = NeededImages(files=(), rows=len(names), without=0, named=named, prefix="docker.io/")
    facts = StoredImages(of_dataset=True, **({"absent": names} | stored))
    return archived_images(LocalMachine({}), plan_of(sandbox__image_archive=str(directory)), needed, facts)


def test_tells_what_lies_at_the_paths_that_matter(tmp_path: Path) -> None:
    image(tmp_path, "docker.io_a_bc_1.tar", f"{TESTS[0]}/test_one.py", RUNNERS[0])
    image(tmp_path, "docker.io_a_bd_1.tar", "/etc/passwd")
    found = look(tmp_path, "docker.io/a/bc:1", "docker.io/a/bd:1")
    assert found.of == 2
    assert {each.names: (each.has(*TESTS), each.has(*RUNNERS)) for each in found.images} == {
        ("docker.io/a/bc:1",): (True, True),
        ("docker.io/a/bd:1",): (False, False),
    }


def test_what_is_no_archive_is_unread_and_no_finding(tmp_path: Path) -> None:
    (tmp_path / "docker.io_a_bc_1.tar").write_text("cut off")
    (only,) = look(tmp_path, "docker.io/a/bc:1").images
    assert only.has(*TESTS) is None
    assert only.unread[0].startswith(f"{tmp_path}/docker.io_a_bc_1.tar: ReadError")


def test_a_few_are_looked_into_and_all_are_counted(tmp_path: Path) -> None:
    names = [f"docker.io/a/b{number}:1" for number in range(MOST_ARCHIVES + 3)]
    for number in range(MOST_ARCHIVES + 3):
        image(tmp_path, f"docker.io_a_b{number}_1.tar", "/etc/passwd")
    found = look(tmp_path, *names)
    assert (len(found.images), found.of) == (MOST_ARCHIVES, MOST_ARCHIVES + 3)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_archive_that_the_runtime_would_load_is_looked_into(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"docker.io_a_bd_1{suffix}").touch()
    (only,) = look(tmp_path, "docker.io/a/bd:1").images
    assert (only.has(*TESTS), only.label) == (None, "docker.io/a/bd:1")


def test_what_the_store_holds_does_not_apply(tmp_path: Path) -> None:
    image(tmp_path, "docker.io_a_bc_1.tar", "/etc/passwd")
    with pytest.raises(NotApplicable, match="no image of the dataset"):
        look(tmp_path, "docker.io/a/bc:1", absent=())
    with pytest.raises(NotApplicable, match="no image is loaded"):
        look(tmp_path / "nowhere", "docker.io/a/bc:1")
