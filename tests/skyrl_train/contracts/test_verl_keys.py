"""The table of our settings and verl's keys."""

from typing import Any

import pytest

from skyrl_doctor.plan.dialects.schema import rules
from skyrl_doctor.plan.dialects.verl.defaults import shipped
from skyrl_doctor.plan.keys import EXTRA
from skyrl_train.contracts.verl_keys import (
    ADDED,
    CONSTANTS,
    KEYS,
    RENAMED,
    RENAMED_PREFIXES,
    SFT_KEYS,
    by_setting,
    hydra_key,
    key_of,
    names,
    overrides,
    renamed,
    written,
)

TREE = shipped("dp").values
SKYRL_AGENTS_OWN = {"skyrl_agent.num_trajectories"}
OLD = {"critic.model.fsdp_config.param_offload", "critic.model.fsdp_config.optimizer_offload"}


def is_key(name: str) -> bool:
    return name in TREE or any(key.startswith(f"{name}.") for key in TREE)


def test_each_setting_and_each_key_has_one_row() -> None:
    assert len({key.ours for key in KEYS}) == len({key.verl for key in KEYS}) == len(KEYS)


def test_each_setting_is_one_of_ours() -> None:
    assert {key.ours for key in KEYS} - set(rules()) - set(EXTRA) == set()


def test_each_key_is_in_verls_tree_or_is_added_with_a_plus() -> None:
    every = {name for key in KEYS for name in (*key.names, *key.also)} | set(CONSTANTS)
    assert {name for name in every if not is_key(name)} - ADDED - SKYRL_AGENTS_OWN == OLD
    assert {name for name in ADDED if is_key(name)} == set()
    assert {hydra_key(name)[0] for name in ADDED} == {"+"}


def test_todays_names_of_older_keys_are_in_verls_tree() -> None:
    supervised = {key.verl for key in SFT_KEYS}
    renames = {**RENAMED, **RENAMED_PREFIXES}
    unknown = {old for old, new in renames.items() if not is_key(new.rstrip(".")) and {old, new} - supervised}
    assert unknown == set()
    assert renamed("ray_init.num_cpus") == "ray_kwargs.ray_init.num_cpus"
    assert renamed("trainer.nnodes") is None


@pytest.mark.parametrize(
    ("ours", "value", "theirs"),
    [
        ("trainer.resume", "path", "resume_path"),
        ("trainer.resume", "auto", "auto"),
        ("trainer.logger", ["console"], ["console"]),
        ("actor.lr", 1e-6, 1e-6),
    ],
)
def test_values_go_both_ways(ours: str, value: Any, theirs: Any) -> None:
    row = by_setting(ours)
    assert row is not None
    assert (row.to_verl(value), row.from_verl(theirs)) == (theirs, value)


@pytest.mark.parametrize(
    ("ours", "value", "theirs"),
    [
        ("model.lora_alpha", 16.0, 16),
        ("model.lora_alpha", 16.5, 16.5),
        ("model.lora_targets", ("all-linear",), "all-linear"),
        ("model.lora_targets", ("q_proj", "v_proj"), ["q_proj", "v_proj"]),
        ("trainer.logger", ("console", "wandb"), ["console", "wandb"]),
    ],
)
def test_values_that_verl_takes_in_another_form(ours: str, value: Any, theirs: Any) -> None:
    assert dict(written({ours: value})) == {key_of(ours): theirs}


def test_verl_takes_one_text_where_a_list_is_expected() -> None:
    row = by_setting("data.train_files")
    assert row is not None
    assert row.from_verl("a.parquet") == row.from_verl(("a.parquet",)) == ["a.parquet"]


def test_our_trainer_writes_a_setting_under_all_of_its_keys_and_others_under_one() -> None:
    values = {"rollout.log_prob_micro_batch_size_per_gpu": 2, "trainer.seed": 7, "no.such": 1}
    main, again = (f"actor_rollout_ref.{part}.log_prob_micro_batch_size_per_gpu" for part in ("rollout", "ref"))
    assert {name: value for name, value in written(values) if value == 2} == {main: 2, again: 2}
    assert dict(written(values, also=False)) == {main: 2}


def test_a_critics_keys_are_written_only_where_one_is_trained() -> None:
    values = dict.fromkeys((key.ours for key in KEYS), 1)
    made = [name for name, _ in overrides(values, critic=False)]
    assert [name for name in made if "critic" in name] == []
    assert "critic.optim.lr" in dict(overrides(values, critic=True))
    assert len(made) == len(set(made))


def test_the_names_in_which_the_memory_model_looks() -> None:
    assert names("model.lora_rank") == ("actor_rollout_ref.model.lora_rank", "actor_rollout_ref.model.lora.rank")
