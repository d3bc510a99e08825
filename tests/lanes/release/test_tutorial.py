"""The laptop tutorial as a newcomer follows it: a fresh clone, an environment of its own, and each block as it stands."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lanes.release.conftest import MEASURED, NEXT, ROOT, done, interpreter
from test_tutorial import BLOCK, LAPTOP, matches, run, steps

pytestmark = pytest.mark.release
README = ROOT / "README.md"


def install_lines(page: str) -> list[str]:
    """The lines of the first block of the page that installs the commands."""
    blocks = (block for _, block in BLOCK.findall(page) if "pip install" in block)
    return [line.removeprefix("$ ").partition(" # ")[0].strip() for line in next(blocks).splitlines() if line]


@pytest.fixture
def clone(repository: Path, tmp_path: Path) -> Path:
    made = tmp_path / "skyrl-doctor"
    done("git", "clone", "--quiet", repository, made, cwd=tmp_path)
    return made


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH whose python3 is one that the page asks for, and where our commands are not."""
    python = interpreter("3.12") or interpreter("3.11")
    assert python is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(python)
    return f"{tmp_path / 'bin'}:/usr/local/bin:/usr/bin:/bin"


def test_the_tutorial_from_a_fresh_clone(
    clone: Path, path: str, record_property: Callable[[str, object], None]
) -> None:
    """The pages that it names are those of its release."""
    told = list(steps(LAPTOP.read_text(encoding="utf-8")))
    install = install_lines(LAPTOP.read_text(encoding="utf-8"))
    assert install == ["python3 -m venv venv && . venv/bin/activate", "pip install . pytest"]
    begun = time.monotonic()
    outputs = run([*install, *(command for command, _ in told)], clone, path=path, environ=_pip(clone))
    record_property(
        MEASURED, f"{(time.monotonic() - begun) / 60:.1f} minutes, {len(told)} commands and the installation"
    )
    assert len(outputs) == len(install) + len(told)
    for (command, expected), output in zip(told, outputs[len(install) :], strict=True):
        expected = expected.replace("/blob/main/", f"/blob/{NEXT}/")
        assert matches(expected, output), f"$ {command}\n{output}\n--- expected\n{expected}"


def test_the_lines_of_the_readme_install_the_commands(clone: Path, path: str) -> None:
    """All but the first, which clones from the public address."""
    first, enter, *install, check = install_lines(README.read_text(encoding="utf-8"))
    assert (first, enter) == ("git clone https://github.com/skyrl-doctor/skyrl-doctor", "cd skyrl-doctor")
    (clone / "train.sh").write_text("python3 -m verl.trainer.main_ppo trainer.nnodes=1\n")
    *_, output = run([*install, check], clone, path=path, environ=_pip(clone))
    assert re.search(r"^verdict: (?:pass|fail|unknown) \(", output, re.MULTILINE), output


def _pip(clone: Path) -> dict[str, str]:
    """What pip needs of this machine: its index, its proxies and their certificates."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PIP_") or name.lower().endswith(("_proxy", "_cert", "_bundle"))
    }
    config = Path.home() / ".config/pip/pip.conf"
    return {**kept, **({"PIP_CONFIG_FILE": str(config)} if config.exists() else {}), "HOME": str(clone)}
