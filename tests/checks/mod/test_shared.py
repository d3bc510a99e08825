"""Chat templates of well-known families with the loops of skyrl-train, verl and SkyRL. The expected results are written down
first, from what these loops do."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from chat_models import FAMILIES, Made, examined
from checks.mod.shared import Loop, has_more_turns, has_tool_turns, loop_of, slices
from checks.mod.special_tokens_disagree import special_tokens_disagree
from checks.mod.template_rejects_turns import template_rejects_turns
from checks.mod.tool_call_not_read_back import tool_call_not_read_back
from checks.mod.turn_end_not_a_stop import turn_end_not_a_stop
from checks.mod.turns_not_append_only import turns_not_append_only
from plans import plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.facts.chat_template import ChatTemplate
from skyrl_doctor.plan.model import Plan

VERL_WORDS = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m"
SKYRL_WORDS = "uv run -m skyrl.train.entrypoints.main_base trainer.policy.model.path=/m"
OURS = plan('[model]\npath = "/m"\n')
VERL = plan(
    f"{VERL_WORDS} actor_rollout_ref.rollout.multi_turn.enable=True actor_rollout_ref.rollout.multi_turn.format=hermes\n",
    "run.sh",
)
SKYRL = plan(f"{SKYRL_WORDS} generator.max_turns=4\n", "run.sh")
PLANS = {"ours": OURS, "verl": VERL, "skyrl": SKYRL}

EXPECTED: Mapping[str, Mapping[str, set[str]]] = {
    "qwen2.5": {"ours": set(), "verl": set(), "skyrl": set()},
    # only messages of the user end the turns whose reasoning is kept
    "qwen3": {"ours": {"MOD006 info"}, "verl": set(), "skyrl": {"MOD006 info"}},
    "base": {"ours": {"MOD008 warning"}, "verl": {"MOD008 warning"}, "skyrl": {"MOD008 warning"}},
    # a call leaves no room for content, and is not in the form of hermes
    "llama3": {"ours": set(), "verl": {"MOD006 info", "MOD009 warning"}, "skyrl": set()},
    # the system message moves to the last message of the user; ids of calls have nine letters; users do not follow users
    "mistral": {
        "ours": {"MOD006 warning"},
        "verl": {"MOD006 info", "MOD007 error", "MOD009 warning"},
        "skyrl": {"MOD007 error"},
    },
    "gemma": {"ours": {"MOD007 error"}, "verl": {"MOD007 error"}, "skyrl": {"MOD007 error"}},
    # without a prompt for a reply it ends with eos, which moves when a message follows
    "phi": {"ours": set(), "verl": {"MOD007 error", "MOD009 warning"}, "skyrl": {"MOD006 warning"}},
    # model_type qwen2, with a tokenizer that is not Qwen's: verl finds the unknown token instead; no role for tools
    "distill": {
        "ours": {"MOD006 info"},
        "verl": {"MOD006 info", "MOD007 error", "MOD009 warning"},
        "skyrl": {"MOD006 info"},
    },
    # the model ends its turn with the marker of the next one, which SkyRL adds again
    "glm": {"ours": {"MOD006 info"}, "verl": {"MOD009 warning"}, "skyrl": {"MOD006 info", "MOD006 warning"}},
}


def findings(made: Plan, template: ChatTemplate, model: object) -> Iterator[tuple[str, Finding]]:
    judges: tuple[tuple[Callable[..., object], tuple[object, ...]], ...] = (
        (turns_not_append_only, (made, model, template)),
        (template_rejects_turns, (made, model, template)),
        (turn_end_not_a_stop, (made, template)),
        (tool_call_not_read_back, (made, template)),
        (special_tokens_disagree, (made, model, template)),
    )
    for judge, facts in judges:
        try:
            yield from ((judge.id, found) for found in judge(*facts))  # type: ignore[attr-defined]  # a Check
        except NotApplicable:
            continue


@pytest.mark.parametrize("family", FAMILIES)
def test_each_loop_with_each_family(family: str, tmp_path: Path) -> None:
    model, template = examined(tmp_path, FAMILIES[family])
    found = {
        name: {f"{id_} {finding.severity.word}" for id_, finding in findings(made, template, model)}
        for name, made in PLANS.items()
    }
    assert found == EXPECTED[family]


def test_an_older_verl_renders_the_message_alone(tmp_path: Path) -> None:
    """Its cut loses the newline after a turn, which is white space, and it looks up no token."""
    model, template = examined(tmp_path / "a", FAMILIES["qwen2.5"], verl="0.8.0")
    assert [(id_, one.severity.word) for id_, one in findings(VERL, template, model)] == [("MOD006", "info")]
    newer = dataclasses.replace(FAMILIES["distill"], model_type="qwen3")
    for version, ids in (("0.8.0", set()), ("0.9.1", {"MOD010"})):
        model, template = examined(tmp_path / version, newer, verl=version)
        assert {id_ for id_, _ in findings(VERL, template, model)} & {"MOD010"} == ids
    assert [slices(examined(tmp_path / "c", FAMILIES["gemma"], verl=one)[1]) for one in ("0.9.0", "0.10.0", "")] == [
        True,
        False,
        False,
    ]


def test_whose_loop_it_is() -> None:
    single = plan(f"{VERL_WORDS}\n", "run.sh")
    agent = plan(f"{VERL_WORDS} actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent\n", "run.sh")
    assert [loop_of(made) for made in (OURS, single, SKYRL)] == [Loop.OURS, Loop.VERL, Loop.SKYRL]
    assert [has_tool_turns(made) for made in (single, agent, VERL)] == [False, True, True]
    one_turn = plan(f"{SKYRL_WORDS} generator.max_turns=1\n", "run.sh")
    assert [has_more_turns(made, Loop.SKYRL) for made in (one_turn, SKYRL)] == [False, True]
    with pytest.raises(NotApplicable, match="only the loops of skyrl-train, verl and SkyRL are examined"):
        loop_of(plan('[model]\nname = "/m"\n[trainer]\n[orchestrator]\n', "rl.toml"))


def test_a_template_for_reasoning_that_is_turned_off(tmp_path: Path) -> None:
    model, template = examined(tmp_path, FAMILIES["qwen3"], kwargs={"enable_thinking": False})
    assert template.text(template.renders["prompt"].ids).endswith("<think>ĊĊ</think>ĊĊ")
    assert {f"{id_} {one.severity.word}" for id_, one in findings(OURS, template, model)} == {"MOD006 info"}


def test_a_model_without_a_template(tmp_path: Path) -> None:
    model, template = examined(tmp_path, Made(None, (), "Z"))
    message = "the model's tokenizer has no chat template; expected the one of a chat model"
    assert [(id_, one.message) for id_, one in findings(OURS, template, model)] == [("MOD007", message)]
