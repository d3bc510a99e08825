"""The settings of another framework as those of a RunConfig."""

import pytest

from skyrl_train.config.translate import Read, Translated, translate

NO_TASKS = "data.train_files is not set: the source names no file of tasks; pass --tasks FILE"
TASKS = Read("data.train_files", "data.train_files", ["t.jsonl"], place="a:9")


def test_what_differs_between_the_frameworks() -> None:
    read = (
        Read("rollout.n", "group_size", 4, place="a:1"),
        Read("data.train_batch_rollouts", "batch_size", 8, place="a:2"),
        Read("rollout.tool_call_parser", "parser", "hermes", place="a:3"),
        Read("rollout.engine", "name", "vllm", place="a:4"),
        Read("actor.strategy", "strategy", "megatron", place="a:5"),
        Read("trainer.steps", "steps", "$N", unknown="N is not set", place="a:6"),
        Read("critic.path", "critic", "/m"),
        Read("rollout.load_format", "load_format", "dummy_dtensor"),
    )
    assert translate(read, ()) == Translated(
        {
            "data.train_batch_size": 2,
            "actor.ppo_mini_batch_size": 2,
            "rollout.n": 4,
            "rollout.auto_tool_choice": True,
            "rollout.tool_call_parser": "hermes",
        },
        changes=("a:5: strategy = megatron: a run.toml trains with FSDP; memory and speed differ", NO_TASKS),
        left=("a:6: steps = $N: N is not set",),
    )


@pytest.mark.parametrize("place", ["a:1", ""])
def test_an_engine_that_a_run_does_not_have_is_named_even_where_it_is_a_default(place: str) -> None:
    """As with `model_engine=megatron`, which chooses verl's own file of defaults."""
    found = translate((Read("actor.strategy", "actor.strategy", "megatron", place=place), TASKS), ())
    where = place or "default of the source"
    assert found.changes == (
        f"{where}: actor.strategy = megatron: a run.toml trains with FSDP; memory and speed differ",
    )
    assert found.left == ()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("actor_rollout_ref.actor.megatron.tensor_model_parallel_size", True),
        ("custom_reward_function.path", True),
        ("trainer.optim.type", True),
        ("orchestrator.train.source[0].env.taskset.id", True),
        ("trainer.model.ep", True),
        ("deployment.num_train_nodes", True),
        ("orchestrator.train.source[0].curriculum.gates.zero_advantage.type", False),
        ("actor_rollout_ref.rollout.multi_stage_wake_up", False),
        ("log.level", False),
        ("orchestrator.train.env[0].id", True),
        ("orchestrator.env[1].id", True),
        ("orchestrator.eval.env[0].id", False),
        ("environment.env_class", True),
        ("reward_model.num_workers", False),
        ("generator.max_input_length", True),
        ("trainer.optim.weight_decay", True),
        ("trainer.algorithm.policy_loss_type", True),
        ("trainer.algorithm.overlong_buffer_len", True),
        ("data.filter_overlong_prompts", False),
        ("trainer.model.lora.modules_to_save", True),
        ("orchestrator.max_off_policy_steps", True),
        ("reward_model.reward_manager", True),
    ],
)
def test_what_changes_the_run_stands_apart(name: str, changes: bool) -> None:
    found = translate((TASKS,), (Read("other", name, 1, place="a:1"),))
    line = (f"a:1: {name} = 1: not translated",)
    assert (found.changes, found.left) == ((line, ()) if changes else ((), line))


@pytest.mark.parametrize(
    ("directory", "expected"),
    [("/c/p/e", "/c"), ("/c/p/other", "/c/p/other"), ("/p/e", "/p/e"), ("p/e", "p/e"), ("c/p/e", "c")],
)
def test_the_directory_of_checkpoints_names_the_run_once(directory: str, expected: str) -> None:
    read = [
        Read(f"trainer.{key}", key, value, place="a:1")
        for key, value in (("project", "p"), ("experiment", "e"), ("checkpoint_dir", directory))
    ]
    assert translate(tuple(read), ()).values["trainer.checkpoint_dir"] == expected


def test_a_word_that_a_run_does_not_have_names_the_one_in_force() -> None:
    read = (TASKS, Read("algorithm.advantage", "algorithm.adv_estimator", "gdpo", place="a:1"))
    words = '"grpo" or "gae" or "rloo" or "reinforce_plus_plus"'
    assert translate(read, ()).changes == (
        f'a:1: algorithm.adv_estimator = gdpo: algorithm.advantage takes {words}, and is now "grpo"',
    )


@pytest.mark.parametrize("name", ["trainer.optim.type", "optim.type", "actor_rollout_ref.actor.optim.optimizer"])
def test_adamw_is_our_optimizer_too(name: str) -> None:
    assert translate((TASKS,), (Read("other", name, "AdamW", place="a:1"),)) == Translated({TASKS.setting: TASKS.value})
    others = (Read("other", "trainer.optim.type", "muon", place="a:1"),)
    assert translate((TASKS,), others).changes == ("a:1: trainer.optim.type = muon: not translated",)


def test_a_second_value_of_a_setting_is_named() -> None:
    read = (Read("slurm.nodes", "trainer.nnodes", 2, place="a:1"),)
    others = (Read("slurm.nodes", "#SBATCH --nodes", 4, place="a:2"), Read("slurm.nodes", "-N", 2, place="a:3"))
    assert translate((*read, TASKS), others) == Translated(
        {"slurm.nodes": 2, TASKS.setting: TASKS.value}, changes=("a:2: #SBATCH --nodes = 4: slurm.nodes is 2",)
    )


@pytest.mark.parametrize("key", ["model.path", "critic.path", "data.train_files", "data.val_files"])
def test_a_models_or_a_files_name_is_not_taken_from_the_framework(key: str) -> None:
    """verl's defaults name those of its own example."""
    advantage = Read("algorithm.advantage", "algorithm.adv_estimator", "gae", place="a:1")
    value = ["x.parquet"] if key.endswith("_files") else "x"
    assert key in translate((advantage, Read(key, key, value, place="a:2")), ()).values
    assert key not in translate((advantage, Read(key, key, value)), ()).values


def test_a_key_with_a_like_of_ours_names_the_value_that_holds_now() -> None:
    others = (Read("other", "trainer.strategy", "fsdp", place="a:1"),)
    assert translate((TASKS,), others).changes == (
        'a:1: trainer.strategy = fsdp: not translated; actor.strategy is now "fsdp2" (the default)',
    )
    strategy = Read("actor.strategy", "actor.strategy", "fsdp", place="a:2")
    assert translate((TASKS, strategy), others).changes == (
        "a:1: trainer.strategy = fsdp: not translated; actor.strategy is fsdp",
    )
