"""The workflow and the hook of docs/ci.md, as they stand there, in a repository of a user."""

import re
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from lanes.release.conftest import LAST, ROOT, done, run
from lanes.release.runner import run_job

pytestmark = pytest.mark.release
PAGE = ROOT / "docs/ci.md"
URL = "https://github.com/skyrl-doctor/skyrl-doctor"
GOOD, BAD = ROOT / "examples/mig20.toml", '[model]\npath = "m"\n\n[rollout]\nmax_tokens = 9000\n'


def block(file: str) -> dict[str, Any]:
    """The YAML of the page whose first line names the file."""
    (found,) = re.findall(rf"^```yaml\n# {re.escape(file)}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    parsed: dict[str, Any] = yaml.safe_load(found)
    return parsed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's repository with a sound configuration."""
    made = tmp_path / "project"
    (made / "configs").mkdir(parents=True)
    shutil.copy(GOOD, made / "configs/run.toml")
    done("git", "init", "--quiet", cwd=made)
    return made


@pytest.fixture(scope="session")
def archive(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The action as a runner downloads it: an archive of the tag, without git."""
    made = tmp_path_factory.mktemp("action")
    done("git", "archive", "--output", made / "action.tar", LAST, cwd=repository)
    with tarfile.open(made / "action.tar") as tar:
        tar.extractall(made / "skyrl-doctor", filter="data")
    return made / "skyrl-doctor"


def test_the_workflow(project: Path, archive: Path, tmp_path: Path) -> None:
    (job,) = block(".github/workflows/skyrl-doctor.yml")["jobs"].values()

    def fetched(uses: str) -> Path:
        assert uses == f"skyrl-doctor/skyrl-doctor@{LAST}"
        return archive

    good = run_job(job, fetched, project, tmp_path)
    assert [(one.code, one.annotations) for one in good] == [(0, []), (0, [])], [one.output for one in good]
    (project / "configs/run.toml").write_text(BAD)
    _, bad = run_job(job, fetched, project, tmp_path)
    assert bad.code == 1
    assert [kind for kind, place in bad.annotations if place.startswith("file=configs/run.toml,line=5,")] == ["error"]


def test_the_hook(project: Path, repository: Path, tmp_path: Path) -> None:
    file = ".pre-commit-config.yaml"
    (project / file).write_text(yaml.safe_dump(block(file)))
    env = {
        "PRE_COMMIT_HOME": str(tmp_path / "hooks"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": URL,
    }
    done("git", "add", "--all", cwd=project)
    hooks = (Path(sys.executable).parent / "pre-commit", "run", "--all-files")
    assert "Passed" in done(*hooks, cwd=project, env=env)
    (project / "configs/run.toml").write_text(BAD)
    refused = run(*hooks, cwd=project, env=env)
    assert (refused.returncode, "CFG001" in refused.stdout) == (1, True), refused.stdout + refused.stderr
