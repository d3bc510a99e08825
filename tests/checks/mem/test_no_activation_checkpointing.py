"""MEM004."""

import tomllib
from pathlib import Path

import pytest

from checks.mem.no_activation_checkpointing import no_activation_checkpointing
from plans import MIG20, ROOT, example, found, plan, verdict
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

FIRST = "examples/prime-rl-2025/v1.toml"
VERL = "python -m verl.trainer.main_ppo actor_rollout_ref.model.enable_gradient_checkpointing={}\n"
VERL_KEY = "actor_rollout_ref.model.enable_gradient_checkpointing"


def test_off_and_shared_only() -> None:
    for on, offload, told in ((False, False, 1), (True, False, 0), (False, True, 0)):
        made = plan_of(model__gradient_checkpointing=on, actor__cpu_offload=offload)
        assert len(list(no_activation_checkpointing(made))) == told


def test_reproduces_the_first_attempt() -> None:
    assert found("MEM004", example(FIRST)) == [
        config_finding(
            "trainer.model.ac is off by default on a GPU that the trainer shares with vLLM; expected on",
            Location(FIRST, 9, "trainer.model"),
            {},
            summary="set trainer.model.ac = { freq = 1 }",
            severity=Severity.WARNING,
        )
    ]


def test_verl_with_it_switched_off() -> None:
    assert found("MEM004", plan(VERL.format("False"), "run.sh")) == [
        config_finding(
            f"{VERL_KEY} is off on a GPU that the trainer shares with vLLM; expected on",
            Location("run.sh", 1, VERL_KEY),
            {VERL_KEY: "true"},
            summary=f"set {VERL_KEY} = true",
            severity=Severity.WARNING,
        )
    ]
    assert found("MEM004", plan(VERL.format("True"), "run.sh")) == []


def test_the_cure_of_our_own_file_is_a_switch_and_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "run.toml"
    target.write_text((ROOT / MIG20).read_text().replace("[model]\n", "[model]\ngradient_checkpointing = false\n"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    assert dispatch(["fix", "MEM004", str(target), "--apply"]) in (0, 1)
    assert tomllib.loads(target.read_text())["model"]["gradient_checkpointing"] is True


def test_silent_on_clean_configurations() -> None:
    assert found("MEM004", example("examples/prime-rl-2025/v5.toml")) == []
    assert verdict("MEM004", example(MIG20)) == (Status.PASS, "")


def test_gpus_of_their_own_are_not_shared() -> None:
    apart = (Status.SKIP, "the trainer and vLLM use different GPUs")
    assert verdict("MEM004", example("examples/prime-rl/two_gpus.toml")) == apart
    assert verdict("MEM004", example("examples/prime-rl-2025/first.toml")) == apart
