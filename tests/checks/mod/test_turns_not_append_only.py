"""MOD006."""

import dataclasses
from pathlib import Path

import pytest

from chat_models import LLAMA3, MISTRAL, QWEN3, examined
from checks.mod.turns_not_append_only import turns_not_append_only
from plans import MIG20, example
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of


def test_white_space_and_reasoning_are_for_information(tmp_path: Path) -> None:
    model, template = examined(tmp_path / "a", QWEN3)
    ours = plan_of(model__path="/m")
    message = "the chat template removes the reasoning of earlier replies, and the rollout keeps it; expected the same in both"
    assert [(one.message, one.severity) for one in turns_not_append_only(ours, model, template)] == [
        (message, Severity.INFO)
    ]
    spaced = dataclasses.replace(
        LLAMA3,
        template=str(LLAMA3.template).replace("m.content | trim", "m.content | trim + (' ' if not loop.last else '')"),
    )
    model, template = examined(tmp_path / "b", spaced)
    assert [one.severity for one in turns_not_append_only(ours, model, template)] == [Severity.INFO]


def test_the_first_token_that_differs(tmp_path: Path) -> None:
    model, template = examined(tmp_path, MISTRAL)
    prompt, whole = template.renders["prompt"].ids, template.renders["whole"].ids
    assert (template.pieces[prompt[3]], template.pieces[whole[3]]) == ("Y", "M")
    with pytest.raises(NotApplicable, match="no configuration given"):
        list(turns_not_append_only(Plan(), model, template))


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD006", "chat_templates", plan=plan_of(model__path="/models/system-moves")) == Outcome(
        id="MOD006",
        slug="turns-not-append-only",
        status=Status.FAIL,
        findings=(
            config_finding(
                "the first prompt of skyrl-train: token 3 is 56 'Y'; expected 44 'M', as the template renders the whole conversation",
                Location("plan.toml", None, "model.path"),
                summary="use a chat template that renders earlier turns unchanged",
                severity=Severity.WARNING,
                evidence=("/models/system-moves: tokenizer_config.json",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD006", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
