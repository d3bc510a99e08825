"""The wheel and the source distribution, installed into a clean environment of each Python, do their work."""

from pathlib import Path

import pytest

from lanes.release.conftest import NEXT, done, interpreter, run

pytestmark = pytest.mark.release
PYTHONS = ("3.11", "3.12", "3.13")
LOG = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has 1.10 GiB free of 19.62 GiB.\n"


@pytest.fixture(params=[f"{kind}-{version}" for version in PYTHONS for kind in ("wheel", "sdist")])
def commands(request: pytest.FixtureRequest, distributions: dict[str, Path], tmp_path: Path) -> Path:
    """The folder of the commands in an environment that holds a distribution and nothing else of ours."""
    kind, _, version = request.param.partition("-")
    python = interpreter(version)
    if python is None:
        pytest.xfail(f"no Python {version} was found: on PATH, beside this one, with pyenv or with uv")
    environment = tmp_path / "environment"
    done(python, "-m", "venv", environment, cwd=tmp_path)
    done(environment / "bin/pip", "install", "--quiet", distributions[kind], cwd=tmp_path)
    return environment / "bin"


def test_an_installation_works(commands: Path, tmp_path: Path) -> None:
    here = tmp_path / "project"
    here.mkdir()
    doctor, train = commands / "skyrl-doctor", commands / "skyrl-train"
    for command in (doctor, train):
        assert done(command, "--version", cwd=here).split()[-1] == NEXT.removeprefix("v")
    assert f"Version: {NEXT.removeprefix('v')}\n" in done(commands / "pip", "show", "skyrl-doctor", cwd=here)

    (here / "tasks.jsonl").write_text("{}\n")
    done(
        train, "init", "--model", "Qwen/Qwen2.5-Coder-0.5B-Instruct", "--tasks", "tasks.jsonl", "--gpus", "1", cwd=here
    )
    assert "verdict: pass" in done(doctor, "preflight", "--structure-only", "run.toml", cwd=here)
    assert "fits:" in done(doctor, "budget", "run.toml", "--gpu", "H200", cwd=here)
    with (here / "run.toml").open("a") as file:
        file.write("\n[rollout]\nmax_tokens = 9000\n")
    refused = run(doctor, "preflight", "--structure-only", "run.toml", cwd=here)
    assert (refused.returncode, "CFG001" in refused.stdout) == (1, True), refused.stdout + refused.stderr

    (here / "train.log").write_text(LOG)
    ended = run(doctor, "diagnose", "train.log", cwd=here)
    assert (ended.returncode, ended.stdout.split()[0]) == (1, "MEM001"), ended.stdout + ended.stderr
    assert "mig-uuid" in done(doctor, "list", "mig", cwd=here)
    assert '"$schema"' in done(train, "config", "schema", cwd=here)
    (here / "run.toml").write_text((here / "run.toml").read_text().replace("9000", "1024"))
    assert "-m pip install 'httpx" in run(train, "launch", "run.toml", "--no-gate", cwd=here).stderr
    assert "requirements" in done(commands / "pip", "check", cwd=here)
