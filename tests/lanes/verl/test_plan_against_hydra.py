"""verl's own Hydra composition and the Plan's reader give the same values."""

import importlib.metadata
import importlib.util
import os
import random
from typing import Any

import pytest

from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.load import load

pytestmark = pytest.mark.verl

SETS = 30
CHOICES: dict[str, tuple[str, ...]] = {
    "data.train_batch_size": ("8", "1_024"),
    "data.max_prompt_length": ("512", "2048"),
    "data.max_response_length": ("128", "4096"),
    "data.train_files": ("a.parquet", "[a.parquet,b.parquet]", "['x y.parquet']", "/d/x.parquet"),
    "data.truncation": ("left", "'right'"),
    "actor_rollout_ref.model.path": ("Qwen/Qwen2.5-0.5B", '"/m/with space"'),
    "actor_rollout_ref.rollout.name": ("vllm", "sglang"),
    "actor_rollout_ref.rollout.n": ("1", "5"),
    "actor_rollout_ref.rollout.gpu_memory_utilization": ("0.5", ".4", "4e-1", "1"),
    "actor_rollout_ref.rollout.max_model_len": ("null", "4096"),
    "actor_rollout_ref.actor.optim.lr": ("1e-6", "1e-05", "3e-7"),
    "actor_rollout_ref.actor.use_dynamic_bsz": ("True", "false"),
    "actor_rollout_ref.actor.strategy": ("fsdp", "fsdp2"),
    "actor_rollout_ref.actor.ppo_mini_batch_size": ("4", "64"),
    "actor_rollout_ref.model.use_remove_padding": ("False", "true"),
    "+actor_rollout_ref.model.override_config.attn_implementation": ("sdpa", "eager"),
    "+actor_rollout_ref.model.override_config": ("{a: 1, b: [x, 2.5]}", "{}"),
    "++trainer.mine.own": ("yes", "null", "007", "[]", "''"),
    "+trainer.other": ("6:00:00", "a-b", "${trainer.nnodes}", "p/${trainer.project_name}"),
    "+trainer.quoted": (r"'a\.b'", r"'a\\b'", r"'it\'s'", r"'a\\'", r'"x\"y"', r"'a\\\'b'"),
    "trainer.logger": ("console", "['console','wandb']", "[console]"),
    "trainer.project_name": ("x-1", "a.b"),
    "trainer.nnodes": ("2",),
    "algorithm.adv_estimator": ("grpo", "gae"),
    "critic.ppo_micro_batch_size": ("3",),
    "~trainer.test_freq": ("",),
}


def overrides(seed: int) -> list[str]:
    draw = random.Random(seed)
    keys = sorted(draw.sample(sorted(CHOICES), draw.randint(4, 16)))
    chosen = [key if key.startswith("~") else f"{key}={draw.choice(CHOICES[key])}" for key in keys]
    both = [text for text in chosen if text.startswith("+actor_rollout_ref.model.override_config")]
    return [text for text in chosen if text not in both[1:]]


def of_hydra(directory: str, texts: list[str]) -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(config_dir=directory, version_base=None):
        config = compose("ppo_trainer", overrides=texts)
    return dict(flat(OmegaConf.to_container(config, resolve=True, throw_on_missing=False), ""))


def flat(node: Any, prefix: str) -> list[tuple[str, Any]]:
    if isinstance(node, dict) and node:
        return [
            pair for name, inner in node.items() for pair in flat(inner, f"{prefix}.{name}" if prefix else str(name))
        ]
    return [(prefix, node)]


@pytest.mark.parametrize("seed", range(SETS))
def test_the_same_values(seed: int) -> None:
    spec = importlib.util.find_spec("verl")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    directory = os.path.join(next(iter(spec.submodule_search_locations)), "trainer", "config")
    texts = overrides(seed)
    # A list, a table or blanks want quotes in a shell; single ones would end inside the value's own.
    command = "python3 -m verl.trainer.main_ppo " + " ".join(f'"{escaped(text)}"' for text in texts)
    machine = RecordedMachine({"environ": {}, "read run.sh": command})
    plan = load(machine, ("run.sh",), verl_version=importlib.metadata.version("verl"))
    assert [problem.message for problem in plan.problems] == []
    wanted = of_hydra(directory, texts)
    found = {key: value.value for key, value in plan.own.items()}
    assert {key: found.get(key, "absent") for key in wanted if not below_alias(key)} == {
        key: None if value == "???" else value for key, value in wanted.items() if not below_alias(key)
    }


def below_alias(key: str) -> bool:
    """Tables that verl fills by an interpolation of a whole table; the Plan holds an empty one there. And the group."""
    return key == "model_engine" or key.startswith(("actor_rollout_ref.rollout.mtp.", "actor_rollout_ref.rollout.qat."))


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
