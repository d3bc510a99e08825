"""MOD008."""

import dataclasses
from pathlib import Path

import pytest

from chat_models import BASE, GLM, PHI, QWEN25, examined
from checks.mod.turn_end_not_a_stop import turn_end_not_a_stop
from plans import MIG20, example
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of


def count(directory: Path, **changes: object) -> int:
    _, template = examined(directory, dataclasses.replace(PHI, **changes))  # type: ignore[arg-type]  # a table of changes
    return len(list(turn_end_not_a_stop(plan_of(model__path="/m"), template)))


def test_the_tokenizer_or_the_generation_config_may_name_it(tmp_path: Path) -> None:
    assert count(tmp_path / "a") == 0
    assert count(tmp_path / "b", stops=()) == 1
    assert count(tmp_path / "c", stops=(), eos="<|end|>") == 0
    for at, made in enumerate((QWEN25, GLM)):
        _, template = examined(tmp_path / f"d{at}", made)
        assert list(turn_end_not_a_stop(plan_of(model__path="/m"), template)) == []


def test_config_json_counts_without_a_generation_config(tmp_path: Path) -> None:
    _, template = examined(tmp_path, dataclasses.replace(BASE, stops=()), model=str(tmp_path / "none"))
    assert template.stops == frozenset()
    _, template = examined(tmp_path, dataclasses.replace(BASE, template="{{ messages[0].content }}"))
    with pytest.raises(NotApplicable, match="the chat template does not show how a reply ends"):
        list(turn_end_not_a_stop(plan_of(model__path="/m"), template))


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD008", "chat_templates", plan=plan_of(model__path="/models/no-stop")) == Outcome(
        id="MOD008",
        slug="turn-end-not-a-stop",
        status=Status.FAIL,
        findings=(
            config_finding(
                "the chat template ends a reply with 260 '<|end|>', but generation stops only at 256 '<|endoftext|>'; expected it among them",
                Location("plan.toml", None, "model.path"),
                summary="add the token to eos_token_id in generation_config.json",
                severity=Severity.WARNING,
                evidence=("/models/no-stop: tokenizer_config.json",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD008", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
