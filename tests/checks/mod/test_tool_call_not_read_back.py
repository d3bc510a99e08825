"""MOD009."""

import dataclasses
from pathlib import Path

import pytest

from chat_models import LLAMA3, QWEN25, examined
from checks.mod.tool_call_not_read_back import tool_call_not_read_back
from plans import MIG20, example, plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of

WORDS = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m actor_rollout_ref.rollout.multi_turn."


def test_bytes_give_back_each_call(tmp_path: Path) -> None:
    _, template = examined(tmp_path, QWEN25)
    ours = plan_of(model__path="/m")
    assert list(tool_call_not_read_back(ours, template)) == []
    broken = dataclasses.replace(template, read_back=(*template.read_back[:1], "no call", *template.read_back[2:]))
    (one,) = tool_call_not_read_back(ours, broken)
    assert one.message.endswith("is decoded as None; expected the same text")


def test_the_form_of_the_template_is_the_one_that_verl_reads(tmp_path: Path) -> None:
    verl = plan(f"{WORDS}tool_config_path=/tools.yaml\n", "run.sh")
    other = plan(f"{WORDS}tool_config_path=/tools.yaml {WORDS.split()[-1]}format=glm\n", "run.sh")
    _, template = examined(tmp_path / "a", QWEN25)
    assert list(tool_call_not_read_back(verl, template)) == []
    (one,) = tool_call_not_read_back(other, template)
    assert one.message.startswith(
        "actor_rollout_ref.rollout.multi_turn.format = 'glm' reads calls that begin with '<tool_call>skyrl_probe'"
    )
    _, template = examined(tmp_path / "b", LLAMA3)
    assert [one.severity for one in tool_call_not_read_back(verl, template)] == [Severity.WARNING]
    with pytest.raises(NotApplicable, match="the configuration lets the model call no tools"):
        list(tool_call_not_read_back(plan(f"{WORDS}format=glm\n", "run.sh"), template))


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD009", "chat_templates", plan=plan_of(model__path="/models/spaces")) == Outcome(
        id="MOD009",
        slug="tool-call-not-read-back",
        status=Status.FAIL,
        findings=(
            config_finding(
                "a call with 'ls .' is decoded as 'ls.'; expected the same text",
                Location("plan.toml", None, "model.path"),
                summary="use a tokenizer that decodes to the same text",
                severity=Severity.ERROR,
                evidence=("/models/spaces/tokenizer.json",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD009", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
