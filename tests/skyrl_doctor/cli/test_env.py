"""env and fix: the same rules, printed and applied."""

import json
import subprocess
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_train.node import apply
from skyrl_train.node.settings import Preparation
from support import MACHINES

MIG = str(MACHINES / "mig_one_slice")


def env(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    assert dispatch(["env", *words]) == 0
    out = capsys.readouterr()
    return out.out, out.err


def test_one_slice_is_remapped_in_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    shell, _ = env("--from", MIG, "--role", "gpu", capsys=capsys)
    assert "export CUDA_VISIBLE_DEVICES=0;\n" in shell
    prolog, _ = env("--from", MIG, "--role", "gpu", "--taskprolog", capsys=capsys)
    assert "export CUDA_VISIBLE_DEVICES=0\n" in prolog
    assert ";" not in prolog


def test_what_another_machine_needs_is_not_made_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = list[Preparation]()
    monkeypatch.setattr(apply, "apply", made.append)
    env("--from", MIG, "--role", "gpu", "--taskprolog", capsys=capsys)
    assert made == []
    env("--role", "gpu", "--taskprolog", capsys=capsys)
    assert len(made) == 1


def test_two_slices_are_skipped_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    shell, said = env("--from", str(MACHINES / "mig_two_slices"), "--role", "gpu", capsys=capsys)
    assert "CUDA_VISIBLE_DEVICES" not in shell
    assert "skyrl-doctor env: skipped: GPU001: CUDA_VISIBLE_DEVICES names 2 MIG slices" in said


def test_a_missing_fact_is_skipped_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = {"environ": {"CUDA_VISIBLE_DEVICES": "MIG-x", "VLLM_USE_V1": "0"}, "identity": IDENTITY, "now": 1.0}
    (tmp_path / "about.toml").write_text("format = 1", encoding="utf-8")
    (tmp_path / "machine.json").write_text(json.dumps(recording), encoding="utf-8")
    shell, said = env("--from", str(tmp_path), "--role", "gpu", capsys=capsys)
    assert "unset VLLM_USE_V1;\n" in shell
    assert "CUDA_VISIBLE_DEVICES" not in shell
    assert "skipped: not in this recording" in said


def test_the_doctors_own_interpreter_is_not_exported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "UV_PYTHON" not in env("--role", "gpu", capsys=capsys)[0]


def test_the_shell_takes_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VLLM_USE_V1", "0")
    shell, _ = env("--role", "gpu", capsys=capsys)
    script = 'eval "$1"; echo ${VLLM_USE_V1-unset} $VLLM_WORKER_MULTIPROC_METHOD $RAY_ENABLE_UV_RUN_RUNTIME_ENV'
    done = subprocess.run(["sh", "-euc", script, "sh", shell], capture_output=True, text=True, check=True)
    assert done.stdout == "unset spawn 0\n"


def test_after_eval_the_checks_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "VLLM_USE_V1": "0",
        "ROCR_VISIBLE_DEVICES": "0",
        "RAY_ADDRESS": "10.0.0.1:6379",
        "TMPDIR": f"/tmp/{'x' * 90}",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("VLLM_WORKER_MULTIPROC_METHOD", raising=False)
    cured = ["ENV016", "ENV015", "ENV009", "ENV006", "ENV004"]
    words = ["preflight", "--role", "gpu", "--select", ",".join(cured), "--format", "json", "--fail-on", "warning"]
    dispatch(words)
    before = {o["id"]: o["status"] for o in json.loads(capsys.readouterr().out)["outcomes"]}
    assert before == dict.fromkeys(cured, "fail")
    for line in env("--role", "gpu", "--taskprolog", capsys=capsys)[0].splitlines():
        word, _, rest = line.partition(" ")
        name, _, value = rest.partition("=")
        monkeypatch.delenv(name, raising=False)
        if word == "export":
            monkeypatch.setenv(name, value)
    assert dispatch(words) == 0
    after = {o["id"]: o["status"] for o in json.loads(capsys.readouterr().out)["outcomes"]}
    assert after == dict.fromkeys(cured, "pass")


def test_fix_shows_and_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["fix", "GPU001", "--from", MIG, "--role", "gpu"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("GPU001 mig-uuid (error)\n")
    assert "  safe: name the slice by number" in out
    assert "      $ export CUDA_VISIBLE_DEVICES=0\n" in out


def test_fix_of_another_machine_is_not_applied_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["fix", "GPU001", "--from", MIG, "--apply"]) == 2
    assert "--apply changes this machine, but --from examines a recording" in capsys.readouterr().err


def test_fix_with_nothing_to_fix(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("VLLM_USE_V1", raising=False)
    assert dispatch(["fix", "stale-vllm-variable"]) == 0
    assert capsys.readouterr().out == "nothing to fix\n"


def test_fix_does_not_pass_over_what_it_could_not_see(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "about.toml").write_text("format = 1", encoding="utf-8")
    (tmp_path / "machine.json").write_text("{}", encoding="utf-8")
    assert dispatch(["fix", "ENV016", "--from", str(tmp_path)]) == 2
    assert capsys.readouterr().out == (
        "nothing to fix in the checks that ran; unknown: ENV016 (preflight prints the reasons)\n"
    )


IDENTITY = {
    "host": "node", "user": "u", "uid": 1000, "gid": 1000, "pid": 2, "cpus": 1, "system": "Linux", "python": "/usr/bin/python3", "cwd": "/",
}  # fmt: skip
