"""The tag that a distribution stores, by which a finding links to the pages of its release."""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

BUILD = Path(__file__).parents[1] / "hatch_build.py"


@pytest.fixture
def build(tmp_path: Path) -> ModuleType:
    """hatch_build of an empty tree."""
    spec = importlib.util.spec_from_file_location("hatch_build_of_test", BUILD)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    made.ROOT = tmp_path  # type: ignore[attr-defined] # the module's own constant
    file = tmp_path / made.VERSION_FILE
    file.parent.mkdir(parents=True)
    file.write_text('VERSION = "1.2.3"\nTAG = "v1.2.3"\n')
    return made


def commit(tree: Path, *, tag: str = "") -> None:
    git = ("git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@example.org")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "x"), *([("tag", tag)] if tag else [])):
        subprocess.run([*git, *words], check=True, capture_output=True)


def test_a_source_distribution_keeps_its_tag(build: ModuleType) -> None:
    assert (build.version(), build.tag_of("1.2.3")) == ("1.2.3", "v1.2.3")


def test_a_checkout_has_its_tag_only_at_the_release(build: ModuleType, tmp_path: Path) -> None:
    commit(tmp_path)
    assert build.tag_of(build.version()) == ""
    commit(tmp_path, tag="v2.0.0")
    assert (build.version(), build.tag_of("2.0.0")) == ("2.0.0", "v2.0.0")
    commit(tmp_path)
    assert (build.version(), build.tag_of(build.version())) == ("2.0.1.dev1", "")
