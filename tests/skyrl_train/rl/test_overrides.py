"""What verl is told. Read back by the doctor's own reader of verl's command lines, it is the configuration again."""

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plans import plan
from skyrl_doctor.plan.syntax.hydra import parse as parse_override
from skyrl_train.checkpoints.resume import Resume
from skyrl_train.config.load import parse
from skyrl_train.contracts.errors import UsageError
from skyrl_train.rl.overrides import Place, overrides, text

PLACE = Place("/jobs/1", "/home/ada/run")
START = Resume("/c/global_step_3", 3, ()).overrides
EXECUTOR = "+actor_rollout_ref.rollout.engine_kwargs.vllm.distributed_executor_backend"
MINIMAL = '[model]\npath = "org/model"\n[data]\ntrain_files = ["a.parquet"]\n'
FULL = """
[model]
path = "/models/m"
tokenizer = "/models/t"
attention = "sdpa"
remove_padding = false
lora_rank = 8
lora_alpha = 32
[data]
train_files = ["a.parquet", "/d/b c.jsonl"]
val_files = ["v.jsonl"]
train_batch_size = 4
max_prompt_tokens = 100
max_response_tokens = 200
loader_workers = 0
[rollout]
n = 4
max_model_len = 300
max_tokens = 64
temperature = 0.7
top_p = 0.9
top_k = 20
tensor_parallel_size = 2
agent_workers = 2
[actor]
strategy = "fsdp2"
lr = 2e-6
ppo_mini_batch_size = 2
kl_loss = true
[critic]
path = "/models/c"
[algorithm]
advantage = "gae"
lam = 0.95
[agent]
budget_note_tokens = 10
[slurm]
nodes = 2
gpus_per_node = 4
[trainer]
project = "p"
experiment = "it's"
logger = ["console", "file"]
steps = 7
resume = "path"
resume_from = "old/global_step_3"
seed = 7
verl_overrides = ["data.train_batch_size=12", "+trainer.mine=1"]
"""
OTHERWISE = {
    "rollout.max_tokens": "each call of the agent says how many tokens it may have",
    "trainer.checkpoint_dir": "project and experiment are added",
    "trainer.resume": "what was looked at is resumed from by its path",
    "trainer.resume_from": "as above",
    "trainer.checkpoints_to_keep": "old ones are removed after the new one is proved whole",
    "trainer.rollout_dir": "transcripts are ours to write",
    "trainer.epochs": "where steps are counted, passes end nothing",
    "data.train_files": "whole paths",
    "data.val_files": "whole paths",
}


@pytest.mark.parametrize("toml", [MINIMAL, FULL])
def test_verls_own_words_say_the_same_as_the_configuration(toml: str) -> None:
    own = plan(toml)
    words = [
        word for word in overrides(parse(toml), PLACE, START) if "train_batch_size" not in word or "trainer" in word
    ]
    read = plan(f"python -m verl.trainer.main_ppo {shlex.join(words)}\n", "run.sh")
    assert [problem.message for problem in read.problems] == []
    critic = parse(toml).needs_critic
    same = {
        key: (value.value, read.values[key].value)
        for key, value in own.values.items()
        if key in read.values and key not in OTHERWISE and (critic or not key.startswith("critic."))
    }
    del same["data.train_batch_size"]
    assert len(same) > 50
    assert {key: pair for key, pair in same.items() if pair[0] != pair[1] and pair[0] is not None} == {}


def words(toml: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in overrides(parse(toml), PLACE, START))


def test_relative_paths_begin_where_the_launch_was_made() -> None:
    said = words(FULL)
    assert said["data.train_files"] == "['/home/ada/run/a.parquet','/d/b c.jsonl']"
    assert said["trainer.default_local_dir"] == "'/home/ada/run/checkpoints/p/it\\'s'"
    assert said["actor_rollout_ref.model.path"] == "'/models/m'"
    assert words(MINIMAL)["actor_rollout_ref.model.path"] == "'org/model'"


def test_where_training_goes_on_from_is_said_by_those_who_looked() -> None:
    said = words(FULL)
    assert said["trainer.resume_mode"] == "'resume_path'"
    assert said["trainer.resume_from_path"] == "'/c/global_step_3'"
    assert said["trainer.max_actor_ckpt_to_keep"] == "null"  # verl's own deletion takes the last good one too soon


def test_the_configurations_own_overrides_come_last() -> None:
    assert overrides(parse(FULL), PLACE, START)[-2:] == ["data.train_batch_size=12", "+trainer.mine=1"]


def test_what_the_configuration_adds_itself_is_not_added_before() -> None:
    """Hydra refuses a second `+`; a plain word needs the first one."""
    key, added = EXECUTOR.lstrip("+"), overrides(parse(MINIMAL), PLACE, START)
    for word, wanted in ((f"+{key}=mp", 1), (f"++{key}=mp", 1), (f"{key}=mp", 2)):
        said = overrides(parse(f'{MINIMAL}[trainer]\nverl_overrides = ["{word}"]\n'), PLACE, START)
        assert said[-1] == word
        assert [one.lstrip("+").partition("=")[0] for one in said].count(key) == wanted
        assert len(said) == len(added) - 1 + wanted


def test_graphs_are_those_of_decoding_alone() -> None:
    graphs = "+actor_rollout_ref.rollout.engine_kwargs.vllm.compilation_config"
    assert graphs not in words(MINIMAL)
    said = words(MINIMAL.replace("[data]", "[rollout]\nenforce_eager = false\n[data]"))
    assert said[graphs] == """'{"mode": 0, "cudagraph_mode": "FULL_DECODE_ONLY"}'"""


@pytest.mark.parametrize(
    ("said", "epochs"), [("", "1"), ("epochs = 3", "3"), ("steps = 7", "7"), ("steps = 2\nepochs = 5", "5")]
)
def test_steps_are_not_cut_short_by_the_passes(said: str, epochs: str) -> None:
    assert words(f"{MINIMAL}[trainer]\n{said}\n")["trainer.total_epochs"] == epochs


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ('[model]\npath = "m"\n', "data.train_files is empty"),
        (MINIMAL + "[trainer]\nvalidate_first = true\n", "data.val_files is empty"),
        (MINIMAL + "[trainer]\nvalidate_every_steps = 5\n", "data.val_files is empty"),
    ],
)
def test_what_verl_would_find_out_late_is_refused_at_once(toml: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        words(toml)


def test_no_process_is_started_that_has_nothing_to_do() -> None:
    said = words(MINIMAL)
    assert said["reward.num_workers"] == "0"
    assert said["transfer_queue.backend.SimpleStorage.num_data_storage_units"] == "1"
    assert said["+ray_kwargs.ray_init.include_dashboard"] == "false"
    assert said[EXECUTOR] == "'uni'"
    assert EXECUTOR not in words(FULL)  # a model on two GPUs has a process for each


def test_a_critic_is_told_of_only_where_there_is_one() -> None:
    assert [key for key in words(MINIMAL) if key.lstrip("+").startswith("critic.")] == ["critic.enable"]
    assert words(FULL)["critic.enable"] == "true"
    assert words(FULL)["critic.model.path"] == "'/models/c'"


def test_several_validation_rollouts_are_sampled_as_in_training() -> None:
    key = "actor_rollout_ref.rollout.val_kwargs"
    one = words(MINIMAL)
    assert {name: value for name, value in one.items() if name.startswith(key)} == {f"{key}.n": "1"}
    text = MINIMAL + "[rollout]\ntemperature = 0.7\ntop_p = 0.9\n[trainer]\nvalidate_samples = 4\n"
    assert {name: value for name, value in words(text).items() if name.startswith(key)} == {
        f"{key}.n": "4",
        f"{key}.do_sample": "true",
        f"{key}.temperature": "0.7",
        f"{key}.top_p": "0.9",
        f"{key}.top_k": "-1",
    }


def test_without_validation_files_the_loader_gets_a_batch_size() -> None:
    assert words(MINIMAL)["data.val_batch_size"] == "1"
    assert words(FULL)["data.val_batch_size"] == "null"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (True, "true"),
        (None, "null"),
        (3, "3"),
        (1e-6, "1e-06"),
        ("a b", "'a b'"),
        ("it's \\ x", r"'it\'s \ x'"),
        (r".*\.(q|v)_proj", r"'.*\.(q|v)_proj'"),
        ("\\", r"'\\'"),
        (["a", 1, None], "['a',1,null]"),
        ({"a": {"b": False}}, "{a:{b:false}}"),
    ],
)
def test_values_in_hydras_grammar(value: Any, wanted: str) -> None:
    assert text(value) == wanted


@given(st.text(alphabet="\\'\"ab. ", max_size=12))
def test_texts_come_back_as_they_were(value: str) -> None:
    assert parse_override(f"k={text(value)}").value == value
