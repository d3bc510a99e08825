"""`diagnose` compares the versions that a log names with the advisories."""

import json
import pkgutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from skyrl_doctor.cli.app import dispatch

VLLM = "INFO 07-01 10:00:00 [core.py:69] Initializing a V1 LLM engine (v0.8.2) with config: model='x'\n"
ERROR = "RuntimeError: nobody knows this failure\n"
VERL = "(TaskRunner pid=1) actor_rollout_ref.rollout.n verl.trainer.main_ppo\n"
LORA = "verl==0.6.0\nvllm==0.11.0\n"
LEAK = "vllm 0.8.2 with verl 0.5.0: vLLM leaks memory in verl's rollouts"


def diagnosed(tmp_path: Path, capsys: pytest.CaptureFixture[str], log: str, *words: str) -> tuple[int, str]:
    (tmp_path / "job.log").write_text(log, encoding="utf-8")
    code = dispatch(["diagnose", str(tmp_path / "job.log"), *words])
    return code, capsys.readouterr().out


def listed(tmp_path: Path, capsys: pytest.CaptureFixture[str], log: str, *words: str) -> list[str]:
    data: Any = json.loads(diagnosed(tmp_path, capsys, log, "--format", "json", *words)[1])
    Draft202012Validator(json.loads(pkgutil.get_data("skyrl_doctor.logs", "schema-diagnose-1.json") or b"")).validate(
        data
    )
    return [one["message"] for one in data.get("advisories", [])]


def test_the_versions_of_a_failed_run_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = diagnosed(tmp_path, capsys, f"verl==0.5.0\n{VLLM}{ERROR}")
    assert code == 1
    assert text.endswith(
        """\
Versions in the log that are known to be bad (ENV017):
  vllm 0.8.2 with verl 0.5.0: vLLM leaks memory in verl's rollouts; install vLLM
    0.8.3 or later
    https://github.com/verl-project/verl/pull/1081
"""
    )
    assert listed(tmp_path, capsys, f"verl==0.5.0\n{VLLM}{ERROR}") == [LEAK]


def test_a_good_version_and_a_run_without_an_error_get_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(tmp_path, capsys, f"verl==0.5.0\n{VLLM.replace('0.8.2', '0.9.1')}{ERROR}") == []
    assert listed(tmp_path, capsys, f"verl==0.5.0\n{VLLM}") == []
    assert listed(tmp_path, capsys, f"{VLLM}{ERROR}") == []


def test_the_configuration_tells_framework_and_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.sh"
    call = "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm"
    config.write_text(f"{call}\n", encoding="utf-8")
    (leak,) = listed(tmp_path, capsys, f"{VLLM}{ERROR}", "--config", str(config))
    assert leak == "vllm 0.8.2 with verl: vLLM leaks memory in verl's rollouts"
    assert listed(tmp_path, capsys, f"{LORA}{ERROR}") == []
    assert listed(tmp_path, capsys, f"{LORA}{ERROR}", "--config", str(config)) == []
    config.write_text(f"{call} actor_rollout_ref.model.lora_rank=8\n", encoding="utf-8")
    (lora,) = listed(tmp_path, capsys, f"{LORA}{ERROR}", "--config", str(config))
    assert lora.startswith("verl 0.6.0 with vllm 0.11.0: rollouts use the base model")


def test_what_depends_on_an_absent_package_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log names only some packages, so cuDNN may be there."""
    config = tmp_path / "run.sh"
    config.write_text("python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-VL-7B-Instruct\n")
    assert listed(tmp_path, capsys, f"torch==2.9.0\n{ERROR}", "--config", str(config)) == []
