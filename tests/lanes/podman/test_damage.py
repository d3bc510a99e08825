"""POD006 against real podman: each file of the store damaged for real, found, and healed by the named remedy."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lanes.podman.conftest import JOB_ID, NewLab, load
from lanes.podman.lab import IMAGE, Lab
from skyrl_doctor.core.model import Outcome, Severity, Status

pytestmark = pytest.mark.podman
CLEAN = Outcome(id="POD006", slug="store-damaged", status=Status.PASS)


def top_layer(lab: Lab) -> str:
    (image,) = json.loads((lab.graph / "overlay-images" / "images.json").read_text())
    return str(image["layer"])


def bottom_layer(lab: Lab) -> str:
    layers = json.loads((lab.graph / "overlay-layers" / "layers.json").read_text())
    (bottom,) = [layer["id"] for layer in layers if not layer.get("parent")]
    return str(bottom)


def database(lab: Lab) -> Path:
    return next(path for path in (lab.graph / "libpod" / "bolt_state.db", lab.graph / "db.sql") if path.exists())


def cut(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


BREAKS: dict[str, tuple[Callable[[Lab], object], str]] = {
    "the top layer's diff is gone": (
        lambda lab: shutil.rmtree(lab.graph / "overlay" / top_layer(lab) / "diff"),
        "has no diff",
    ),
    "the bottom layer's diff is gone": (
        lambda lab: shutil.rmtree(lab.graph / "overlay" / bottom_layer(lab) / "diff"),
        "has no diff",
    ),
    "a layer is gone": (lambda lab: shutil.rmtree(lab.graph / "overlay" / top_layer(lab)), "has no directory"),
    "a layer's link is empty": (
        lambda lab: (lab.graph / "overlay" / top_layer(lab) / "link").write_text(""),
        "has an empty link",
    ),
    "the database is cut off": (lambda lab: cut(database(lab), 8192), "it is truncated: 8192 bytes"),
    "the database is garbage": (lambda lab: database(lab).write_bytes(b"\xa5" * 32768), "is damaged: it "),
    "layers.json is empty": (lambda lab: cut(lab.graph / "overlay-layers" / "layers.json", 0), "is empty"),
    "layers.json is cut off": (lambda lab: cut(lab.graph / "overlay-layers" / "layers.json", 60), "is not valid JSON"),
    "layers.json forgets": (
        lambda lab: (lab.graph / "overlay-layers" / "layers.json").write_text("[]"),
        "needs layer ",
    ),
    "images.json is cut off": (lambda lab: cut(lab.graph / "overlay-images" / "images.json", 60), "is not valid JSON"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_is_found_and_its_remedy_heals(lab: Lab, image_archive: Path, what: str) -> None:
    """In the job that the store belongs to, the last resort is named where nothing less heals."""
    lab.podman("create", "--name", "kept", "--pull=never", IMAGE, "true")
    break_it, words = BREAKS[what]
    break_it(lab)
    before = lab.listing()
    found = lab.doctor("POD006")
    assert lab.listing() == before
    assert [(words in finding.message, finding.severity) for finding in found.findings] == [(True, Severity.ERROR)]
    assert lab.sandbox().returncode != 0
    mine = lab.but(SLURM_JOB_ID=JOB_ID)
    again = mine.doctor("POD006")
    mine.heal(again)
    load(mine, image_archive)
    assert (mine.sandbox().returncode, mine.doctor("POD006")) == (0, CLEAN)


def test_a_store_that_others_use_is_not_reset(lab: Lab) -> None:
    cut(lab.graph / "overlay-layers" / "layers.json", 0)
    found = lab.but(SLURM_JOB_ID="77777").doctor("POD006")
    assert [finding.remedy.commands for finding in found.findings if finding.remedy] == [
        ('eval "$(skyrl-doctor env --shell)"',)
    ]


def test_a_broken_list_of_containers_is_moved_aside(lab: Lab) -> None:
    """Podman 4 goes on without it, Podman 5 does not start: what the doctor says is what podman does."""
    lab.podman("create", "--name", "kept", "--pull=never", IMAGE, "true")
    book = lab.graph / "overlay-containers" / "containers.json"
    book.write_text('[{"id":"abc')
    found = lab.doctor("POD006")
    (severity,) = {finding.severity for finding in found.findings}
    assert (severity is Severity.ERROR) == (lab.sandbox().returncode != 0)
    lab.heal(found)
    assert (lab.sandbox().returncode, lab.doctor("POD006")) == (0, CLEAN)


def test_a_missing_link_is_mended_by_podman(lab: Lab) -> None:
    (lab.graph / "overlay" / top_layer(lab) / "link").unlink()
    assert [finding.severity for finding in lab.doctor("POD006").findings] == [Severity.INFO]
    assert (lab.sandbox().returncode, lab.doctor("POD006")) == (0, CLEAN)


@pytest.mark.parametrize("text", ["[storage", "[storage]\ndriver = 5\n"])
def test_a_broken_configuration_is_found_and_podman_refuses_it(lab: Lab, text: str) -> None:
    whole = lab.storage_conf.read_text()
    lab.storage_conf.write_text(text)
    found = lab.doctor("POD006")
    assert [finding.location.file for finding in found.findings if finding.location] == [str(lab.storage_conf)]
    assert lab.sandbox().returncode != 0
    assert lab.doctor("POD001").status is Status.UNKNOWN
    lab.storage_conf.write_text(whole)
    assert (lab.sandbox().returncode, lab.doctor("POD006")) == (0, CLEAN)


def test_a_configuration_that_is_not_there_is_found(lab: Lab) -> None:
    for variable in ("CONTAINERS_STORAGE_CONF", "CONTAINERS_CONF"):
        other = lab.but(**{variable: f"{lab.base}/nowhere.conf"})
        found = other.doctor("POD006")
        assert [finding.location.file for finding in found.findings if finding.location] == [f"{lab.base}/nowhere.conf"]
        assert other.sandbox().returncode != 0


def test_an_empty_store_is_whole(stocked: NewLab) -> None:
    lab = stocked()
    fresh = lab.but(XDG_DATA_HOME=f"{lab.base}/fresh", CONTAINERS_STORAGE_CONF=None)
    assert fresh.doctor("POD006") == CLEAN
