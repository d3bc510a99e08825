"""One name of a setting in each dialect."""

import pytest

from plans import example, plan
from skyrl_doctor.plan.keys import key_in, value_in
from skyrl_doctor.plan.model import Plan

LR, N = "actor.lr", "rollout.n"


@pytest.mark.parametrize(
    ("dialect", "key", "name"),
    [
        ("run-config", LR, LR),
        ("run-config", "rollout.engine", None),
        ("none", LR, LR),
        ("verl", LR, "actor_rollout_ref.actor.optim.lr"),
        ("verl", "sandbox.cpus", None),
        ("skyrl-agent", N, "ROLLOUT_N"),
        ("skyrl-agent", "rollout.keep_stop", "generator.sampling_params.include_stop_str_in_output"),
        ("skyrl-agent", "slurm.trainer_time_limit", "TRAINING_TIME_LIMIT"),
        ("skyrl-agent", LR, "actor_rollout_ref.actor.optim.lr"),
        ("prime-rl", N, "orchestrator.group_size"),
        ("prime-rl-2025", N, "orchestrator.rollouts_per_example"),
        ("prime-rl", LR, "trainer.optim.lr"),
        ("prime-rl", "trainer.resume", None),
        ("prime-rl+skyrl-agent", "trainer.resume", "trainer.resume_mode"),
    ],
)
def test_a_setting_is_named_in_the_users_dialect(dialect: str, key: str, name: str | None) -> None:
    assert key_in(dialect, key) == name


def test_a_value_is_written_as_the_dialect_has_it() -> None:
    assert value_in("verl", "trainer.resume", "path") == "resume_path"
    assert value_in("run-config", "trainer.resume", "path") == "path"
    assert value_in("verl", LR, "3e-07") == "3e-07"


def test_a_plan_leaves_out_settings_that_its_dialect_lacks() -> None:
    wanted = {"trainer.resume": "path", "rollout.gpu_memory_utilization": "0.4"}
    assert example("examples/prime-rl-2025/v5.toml").settings(wanted) == {"inference.gpu_memory_utilization": "0.4"}
    assert plan("python -m verl.trainer.main_ppo trainer.nnodes=1\n", "run.sh").settings(
        {LR: "1e-6", "trainer.resume": "path"}
    ) == {"actor_rollout_ref.actor.optim.lr": "1e-6", "trainer.resume_mode": "resume_path"}


def test_a_number_that_was_counted_from_a_list_is_no_setting() -> None:
    """prime-rl of 2025 lists the GPUs: `inference_gpu_ids = 1` would be refused."""
    made = example("examples/prime-rl-2025/v5.toml")
    assert made.name("slurm.gpus_per_node") == "inference_gpu_ids"
    assert made.settings({"slurm.gpus_per_node": "1"}) == {}


def test_without_a_configuration_settings_are_named_as_ours() -> None:
    assert Plan().settings({"slurm.exclude": '["n1"]'}) == {"slurm.exclude": '["n1"]'}
    assert Plan().name("rollout.engine") == "rollout.engine"


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.9.1", "critic.fsdp.param_offload"), ("0.6.0", "critic.model.fsdp_config.param_offload")],
)
def test_a_setting_is_named_as_the_release_of_the_run_names_it(version: str, expected: str) -> None:
    made = example("examples/verl/grpo_mig20.sh", verl_version=version)
    assert made.settings({"critic.param_offload": "True"}) == {expected: "True"}
    assert made.flag("critic.param_offload") is False


def test_a_setting_that_the_release_lacks_is_not_advised() -> None:
    made = example("examples/verl/grpo_mig20.sh", verl_version="0.3.0.post1")
    assert made.settings({"model.lora_rank": "32"}) == {}
