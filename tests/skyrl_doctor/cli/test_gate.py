"""gate: the command starts only after a pass; a refusal is 78."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from skyrl_train.contracts.verdict import config_hash, refusal

ENV = {"PATH": "/usr/bin:/bin"}
PASSING = ("--select", "ENV016")
TARGET = Path(__file__).parents[3] / "examples" / "mig20.toml"


def gate(*words: str, env: Mapping[str, str] = ENV, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "skyrl_doctor", "gate", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, env=dict(env), cwd=cwd, check=False)


def test_a_pass_becomes_the_command() -> None:
    done = gate(*PASSING, "--", "sh", "-c", "echo ran $0 --format; exit 7", "x")
    assert (done.returncode, done.stdout) == (7, "ran x --format\n")
    assert "verdict: pass" in done.stderr


def test_a_finding_refuses_with_78_and_starts_nothing() -> None:
    done = gate(*PASSING, "--fail-on", "warning", "--", "echo", "ran", env={**ENV, "VLLM_USE_V1": "0"})
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.endswith(
        "skyrl-doctor gate: refused: the verdict is fail; echo was not started; exit status 78\n"
    )


def test_unknown_refuses_unless_allowed(tmp_path: Path) -> None:
    (tmp_path / "about.toml").write_text("format = 1", encoding="utf-8")
    (tmp_path / "machine.json").write_text(
        json.dumps({"environ": {}, "identity": IDENTITY, "now": 1.0}), encoding="utf-8"
    )
    bundle = ("--from", str(tmp_path), "--role", "runtime", "--select", "POD003")
    assert gate(*bundle, "--", "echo", "ran").returncode == 78
    allowed = gate(*bundle, "--allow-unknown", "--", "echo", "ran")
    assert (allowed.returncode, allowed.stdout) == (0, "ran\n")


@pytest.mark.parametrize("job", [{}, {"SLURM_JOB_ID": "4711"}])
def test_without_a_gpu_a_training_is_not_started(job: Mapping[str, str]) -> None:
    words = (str(TARGET), "--select", "GPU001,ENV016", "--", "echo", "ran")
    done = gate(*words, env={**ENV, **job})
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.endswith(
        "skyrl-doctor gate: refused: no GPU is visible here, so the checks of a GPU node (1) did not run; echo was not "
        "started; exit status 78\n"
        "skyrl-doctor gate: if it trains here, the GPU is missing; if not, name the role: --role login or --role runtime\n"
    )


def test_a_configuration_alone_can_be_gated_on_a_laptop(tmp_path: Path) -> None:
    words = ("--structure-only", str(TARGET), "--", "echo", "ran")
    done = gate(*words)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "this machine was not examined" in " ".join(done.stderr.split())
    with_verdict = gate("--job-dir", str(tmp_path), *words)
    assert (with_verdict.returncode, with_verdict.stdout) == (2, "")
    assert " ".join(with_verdict.stderr.split()) == (
        "skyrl-doctor gate: --structure-only does not examine this machine, but a verdict must be about it; use it "
        "without a job directory"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [("--role", "login"), ("--allow-unknown",)])
def test_who_names_the_role_needs_no_gpu(more: tuple[str, ...]) -> None:
    done = gate(str(TARGET), "--select", "GPU001,ENV016", *more, "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran\n")


def test_what_is_started_elsewhere_needs_no_gpu_here(tmp_path: Path) -> None:
    (tmp_path / "sbatch").write_text("#!/bin/sh\necho submitted\n", encoding="utf-8")
    (tmp_path / "sbatch").chmod(0o755)
    done = gate(str(TARGET), "--select", "GPU001,ENV016", "--", str(tmp_path / "sbatch"))
    assert (done.returncode, done.stdout) == (0, "submitted\n")


def test_no_command_is_a_usage_error() -> None:
    for words in ((*PASSING,), (*PASSING, "--")):
        done = gate(*words)
        assert (done.returncode, done.stderr) == (
            2,
            "skyrl-doctor gate: no command given; use `skyrl-doctor gate [TARGET …] -- CMD …`\n",
        )


def test_a_missing_command_is_127_and_a_bad_one_126(tmp_path: Path) -> None:
    (tmp_path / "tool").touch()
    assert gate(*PASSING, "--", "no-such-command").returncode == 127
    assert gate(*PASSING, "--", str(tmp_path / "tool")).returncode == 126


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_pass_leaves_a_verdict_that_the_trainer_accepts(tmp_path: Path, how: str) -> None:
    words = ("--job-dir", str(tmp_path)) if how == "option" else ()
    env = {**ENV, "SKYRL_JOB_DIR": str(tmp_path)} if how == "variable" else ENV
    done = gate(str(TARGET), *PASSING, *words, "--", "cat", str(tmp_path / "verdict.json"), env=env)
    verdict = json.loads(done.stdout)
    same = {"config_sha256": config_hash([TARGET.read_bytes()]), "node": verdict["node"]}
    assert refusal(done.stdout, **same, now=verdict["written_at"]) is None
    assert verdict["outcomes"] == {"ENV016": "pass"}


def test_a_command_line_as_the_target_is_hashed_itself(tmp_path: Path) -> None:
    command = "python -m verl.trainer.main_ppo trainer.n_gpus_per_node=1"
    done = gate(command, *PASSING, "--job-dir", str(tmp_path), "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    verdict = json.loads((tmp_path / "verdict.json").read_text(encoding="utf-8"))
    assert verdict["config_sha256"] == config_hash([command.encode()])


def test_a_recorded_machine_gives_no_verdict(tmp_path: Path) -> None:
    """It would let a run start on what this machine was like some other day."""
    recorded = str(Path(__file__).parents[2] / "machines" / "clean_gpu_node")
    done = gate(*PASSING, "--from", recorded, "--job-dir", str(tmp_path), "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "skyrl-doctor gate: --from examines a recording, but a verdict must be about this machine; use --from without a job directory\n"
    )


def test_a_refusal_leaves_no_verdict(tmp_path: Path) -> None:
    gate(*PASSING, "--fail-on", "warning", "--job-dir", str(tmp_path), "--", "true", env={**ENV, "VLLM_USE_V1": "0"})
    assert list(tmp_path.iterdir()) == []


def test_a_verdict_that_cannot_be_written_stops_the_launch() -> None:
    done = gate(*PASSING, "--job-dir", "/nowhere", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(
        "skyrl-doctor gate: cannot write the verdict into /nowhere: No such file or directory\n"
    )


IDENTITY = {
    "host": "node", "user": "u", "uid": 1000, "gid": 1000, "pid": 2, "cpus": 1, "system": "Linux", "python": "/usr/bin/python3", "cwd": "/",
}  # fmt: skip
