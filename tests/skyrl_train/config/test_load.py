"""RunConfig: read, checked, written."""

import tomllib

import pytest

from plans import MIG20, ROOT
from skyrl_train.config.constraints import RULES, violations
from skyrl_train.config.load import ConfigError, from_resolved, parse, read, resolved
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.violation import Violation

MODEL = "[model]\npath = 'x'\n"


def reasons(text: str) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    return [(reason.key, reason.message) for reason in caught.value.reasons]


def test_the_example_loads_and_comes_back_from_its_json() -> None:
    config = read(str(ROOT / MIG20))
    assert config.rollout.max_model_len == 4096
    assert from_resolved(resolved(config)) == config
    assert violations(config) == ()


def test_everything_that_is_wrong_is_told_at_once() -> None:
    assert reasons("[model]\npath = 1\ncolour = 'red'\n[slurm]\nnodes = 0\n") == [
        ("model.path", "Input should be a valid string (found 1)"),
        ("model.colour", "Extra inputs are not permitted (found 'red')"),
        ("slurm.nodes", "Input should be greater than or equal to 1 (found 0)"),
    ]


def test_rules_between_settings_are_told_together() -> None:
    text = (
        MODEL
        + "lora_rank = 8\nattention = 'eager'\n[actor]\ncpu_offload = true\n[data]\ntrain_batch_size = 3\n[slurm]\ngpus_per_node = 4\n"
    )
    assert [key for key, _ in reasons(text)] == [
        "data.train_batch_size",
        "actor.ppo_mini_batch_size",
        "actor.cpu_offload",
        "model.remove_padding",
    ]


def test_a_mini_batch_divides_over_the_gpus_that_share_it() -> None:
    text = MODEL + "[data]\ntrain_batch_size = 4\n[slurm]\ngpus_per_node = 4\n[actor]\n"
    said = "a mini batch of 2 samples (1 prompts x 2 rollouts) does not divide over 4 GPUs"
    assert reasons(text + "ppo_mini_batch_size = 1\n") == [("actor.ppo_mini_batch_size", said)]
    for divides in ("ppo_mini_batch_size = 1\nsequence_parallel_size = 2\n", "ppo_mini_batch_size = 2\n"):
        assert parse(text + divides).devices == 4


EACH: dict[str, tuple[str, str]] = {
    "context_fits": ("[rollout]\nmax_tokens = 2049\n", "rollout.max_tokens"),
    "note_comes_late": ("[agent]\nbudget_note_tokens = 2048\n", "agent.budget_note_tokens"),
    "batch_divides": (
        "[slurm]\ngpus_per_node = 4\n[data]\ntrain_batch_size = 3\n[actor]\nppo_mini_batch_size = 2\n",
        "data.train_batch_size",
    ),
    "server_fits_node": ("[rollout]\ntensor_parallel_size = 3\n", "rollout.tensor_parallel_size"),
    "slots_suffice": ("[slurm]\nruntime_cpus = 8\n[data]\ntrain_batch_size = 2\n", "agent.max_parallel"),
    "runtime_outlives_trainer": ("[slurm]\nruntime_time_limit = '1:00:00'\n", "slurm.runtime_time_limit"),
    "offload_goes_with_adapter": ("lora_rank = 8\n[actor]\ncpu_offload = true\n", "actor.cpu_offload"),
    "adapter_arrives": ("lora_rank = 8\n[actor]\nstrategy = 'fsdp'\n", "actor.strategy"),
    "packing_has_its_kernel": ("attention = 'sdpa'\n", "model.remove_padding"),
    "rollouts_may_age": (
        "[trainer]\nmode = 'colocate_async'\nbatches_ahead = 1.5\nmax_staleness = 2\n",
        "trainer.max_staleness",
    ),
    "rollouts_have_their_gpus": ("[trainer]\nrollout_gpus = 1\n", "trainer.rollout_gpus"),
    "resume_names_its_checkpoint": ("[trainer]\nresume_from = 'x'\n", "trainer.resume_from"),
    "parser_has_its_switch": ("[rollout]\nauto_tool_choice = true\n", "rollout.tool_call_parser"),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.__name__))
def test_each_rule_alone(rule: object) -> None:
    name = rule.__name__  # type: ignore[attr-defined]  # rules are functions
    text, key = EACH[name]
    config = shape(MODEL + text)
    assert [violation.key for violation in rule(config)] == [key]  # type: ignore[operator]  # rules are functions
    assert list(rule(shape(MODEL))) == []  # type: ignore[operator]  # rules are functions


@pytest.mark.parametrize("name", sorted(EACH))
def test_what_a_rule_proposes_satisfies_it(name: str) -> None:
    rule = next(rule for rule in RULES if rule.__name__ == name)
    text, _ = EACH[name]
    (violation,) = rule(shape(MODEL + text))
    if violation.settings:
        assert list(rule(changed(MODEL + text, violation))) == []


def changed(text: str, violation: Violation) -> RunConfig:
    """The configuration with the proposed settings."""
    config = shape(text).model_dump(mode="json")
    for key, value in violation.settings.items():
        table, _, name = key.partition(".")
        (config[table][name],) = tomllib.loads(
            f"x = {value if (value[0].isdigit() and ':' not in value) or value in ('true', 'false') else repr(value)}"
        ).values()
    return from_resolved_data(config)


def from_resolved_data(data: object) -> RunConfig:
    import json

    return RunConfig.model_validate_json(json.dumps(data))


def shape(text: str) -> RunConfig:
    from skyrl_train.config.load import shaped

    return shaped(tomllib.loads(text))


def test_a_config_cannot_be_changed() -> None:
    config = shape(MODEL)
    with pytest.raises(ValueError, match="frozen"):
        config.rollout.n = 3  # type: ignore[misc]  # that it is refused is the point


def test_every_field_has_its_words_and_times_have_units() -> None:
    from skyrl_train.config.schema import schema

    made = schema()
    sections = {name: body["properties"] for name, body in made["$defs"].items()}
    bare = [
        f"{name}.{key}"
        for name, body in sections.items()
        for key, field in body.items()
        if not field.get("description")
    ]
    assert bare == []
    assert made["properties"]["model"]["description"] == "The model."
    timeouts = [key for body in sections.values() for key in body if "timeout" in key or key.endswith("memory")]
    assert [key for key in timeouts if not key.endswith(("_s", "_mib"))] == []
