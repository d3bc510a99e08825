"""MOD007."""

import dataclasses
from pathlib import Path

from chat_models import CHATML, QWEN25, Made, examined
from checks.mod.template_rejects_turns import template_rejects_turns
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of


def refused(directory: Path, template: str) -> list[str]:
    model, found = examined(directory, dataclasses.replace(QWEN25, template=template))
    return [one.message for one in template_rejects_turns(plan_of(model__path="/m"), model, found)]


def test_what_a_rollout_needs_of_a_template(tmp_path: Path) -> None:
    talk = "{% for m in messages %}{{ m.role + ':' + m.content + '<|im_end|>' }}{% endfor %}"
    assert refused(tmp_path / "a", talk) == []
    assert refused(tmp_path / "b", talk.replace("m.content", "m.content | lower")) == [
        "the chat template changes the text of a reply; expected it unchanged"
    ]
    assert refused(tmp_path / "c", "{{ raise_exception('never') }}") == [
        "the chat template refuses the first prompt, which skyrl-train needs: TemplateError: never"
    ]
    last_only = (
        "{% if messages | length > 2 and messages[0].role == 'user' %}{{ raise_exception('one turn') }}{% endif %}"
    )
    assert refused(tmp_path / "d", last_only + talk) == [
        "the chat template refuses the messages that skyrl-train renders after a reply: TemplateError: one turn"
    ]
    no_result = "{% for m in messages %}{% if m.role != 'user' or loop.first %}{{ m.role + ':' + m.content }}{% endif %}{% endfor %}"
    assert refused(tmp_path / "e", no_result) == ["the chat template leaves out the result of a tool"]


def test_what_verl_needs_of_a_template_for_tools(tmp_path: Path) -> None:
    words = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m actor_rollout_ref.rollout.multi_turn."
    verl = plan(f"{words}enable=True\n", "run.sh")

    def why(name: str, template: str, **versions: str) -> list[str]:
        made = dataclasses.replace(QWEN25, template=template)
        model, found = examined(tmp_path / name, made, **versions)  # type: ignore[arg-type]  # texts
        return [one.message for one in template_rejects_turns(verl, model, found)]

    assert why("a", CHATML) == []
    assert why("b", CHATML + "{% if not add_generation_prompt %}.{% endif %}") == [
        "the chat template renders earlier messages differently once a tool's result follows, which verl refuses"
    ]
    no_tools = CHATML.replace("m.role == 'tool'", "m.role == 'other'")
    dropped = "the chat template leaves out messages of the role `tool`, so the model never sees what its tools answer"
    assert why("c", no_tools) == why("d", no_tools, verl="0.8.0") == [dropped]


def test_a_missing_template(tmp_path: Path) -> None:
    model, found = examined(tmp_path, Made(None, (), "Z"))
    (one,) = template_rejects_turns(plan_of(model__path="/m"), model, found)
    assert one.evidence == (f"{tmp_path}: no chat_template",)


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD007", "chat_templates", plan=plan_of(model__path="/models/no-system")) == Outcome(
        id="MOD007",
        slug="template-rejects-turns",
        status=Status.FAIL,
        findings=(
            config_finding(
                "the chat template refuses a system message, which skyrl-train needs: TemplateError: System role not supported",
                Location("plan.toml", None, "model.path"),
                summary="use a chat template that renders the messages of a rollout",
                severity=Severity.ERROR,
                evidence=("/models/no-system: tokenizer_config.json",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD007", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
