"""What is shipped for others' CI runs the command that it names: the pre-commit hook and the GitHub Action."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from skyrl_train.contracts.version import VERSION

ROOT = Path(__file__).parent.parent
GOOD, BAD = "examples/mig20.toml", "examples/prime-rl-2025/v4.toml"


def run(argv: list[str], **environ: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **environ}
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, cwd=ROOT, env=env, check=False)


@pytest.mark.parametrize(("target", "code"), [(GOOD, 0), (BAD, 1)])
def test_the_hook(target: str, code: int) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    assert run([*shlex.split(hook["entry"]), target]).returncode == code


@pytest.mark.parametrize(("target", "code", "said"), [(GOOD, 0, ""), (BAD, 1, f"::error file={BAD},line=23,")])
def test_the_action(tmp_path: Path, target: str, code: int, said: str) -> None:
    """Its second step, with the doctor of this environment where its first would have installed one."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][1]
    installed = tmp_path / "skyrl-doctor" / "bin"
    installed.mkdir(parents=True)
    (installed / "skyrl-doctor").symlink_to(Path(sys.executable).parent / "skyrl-doctor")
    inputs = {"TARGETS": target, "FAIL_ON": action["inputs"]["fail-on"]["default"]}
    assert set(step["env"]) == set(inputs)
    done = run(["bash", "-euo", "pipefail", "-c", step["run"]], RUNNER_TEMP=str(tmp_path), **inputs)
    assert done.returncode == code, done.stderr
    assert said in done.stdout


def test_the_page_of_ci_names_the_last_release() -> None:
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    assert re.findall(r"skyrl-doctor@v([\w.]+)|rev: v([\w.]+)", page) == [(VERSION, ""), ("", VERSION)]


def test_the_last_release_is_the_newest_of_the_changelog() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+) \(", changes, re.MULTILINE)[0] == VERSION
