"""Paths through layers: links stay inside of the image, and the topmost layer counts."""

import os
from pathlib import Path

import pytest

from skyrl_doctor.facts.images.layers import ImageLayers
from skyrl_doctor.machine.base import Unreadable
from skyrl_doctor.machine.local import LocalMachine


@pytest.fixture
def layers(tmp_path: Path) -> tuple[Path, Path]:
    top, low = tmp_path / "top", tmp_path / "low"
    for layer in (top, low):
        (layer / "etc").mkdir(parents=True)
    (low / "usr" / "bin").mkdir(parents=True)
    (low / "usr" / "bin" / "bash").write_text("low")
    (low / "bin").symlink_to("usr/bin")
    (low / "etc" / "os-release").symlink_to("../usr/lib/os-release")
    (low / "usr" / "lib").mkdir()
    (low / "usr" / "lib" / "os-release").write_text("ID=low")
    return top, low


def found(layers: tuple[Path, Path], path: str) -> str | None:
    seen = ImageLayers(LocalMachine({}), tuple(map(str, layers))).find(path)
    return None if seen is None else seen.place


def test_follows_links_inside_the_image(layers: tuple[Path, Path]) -> None:
    low = layers[1]
    assert found(layers, "/bin/bash") == f"{low}/usr/bin/bash"
    assert found(layers, "/etc/os-release") == f"{low}/usr/lib/os-release"


def test_the_topmost_layer_counts(layers: tuple[Path, Path]) -> None:
    top = layers[0]
    (top / "usr" / "bin").mkdir(parents=True)
    (top / "usr" / "bin" / "bash").write_text("top")
    assert found(layers, "/bin/bash") == f"{top}/usr/bin/bash"


def test_what_a_layer_took_away_is_gone(layers: tuple[Path, Path]) -> None:
    (layers[0] / "usr" / "bin").mkdir(parents=True)
    (layers[0] / "usr" / "bin" / ".wh.bash").write_text("")
    assert found(layers, "/bin/bash") is None


def test_links_to_this_machine_are_not_followed(layers: tuple[Path, Path]) -> None:
    (layers[0] / "etc" / "passwd").symlink_to("/etc/passwd")
    (layers[0] / "loop").symlink_to("loop")
    (layers[0] / "out").symlink_to("../../../../../../etc/passwd")
    assert [found(layers, path) for path in ("/etc/passwd", "/loop", "/out", "/none", "/etc/os-release/x")] == [
        None
    ] * 5


@pytest.mark.skipif(os.getuid() == 0, reason="root may enter every directory")
def test_a_closed_directory_is_told(layers: tuple[Path, Path]) -> None:
    (layers[0] / "etc").chmod(0)
    with pytest.raises(Unreadable):
        found(layers, "/etc/os-release")
