"""Rollouts with GPUs of their own, as budget and checks read them: in a configuration of ours, and in verl's command line."""

import dataclasses
import shlex

import pytest

from checks.ckp.world_size_changed import world_size_changed
from plans import found, plan
from skyrl_doctor.budget.job import memory_job
from skyrl_doctor.core.model import Severity
from skyrl_doctor.facts.checkpoints import Checkpoint, Checkpoints
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.training import training_of
from skyrl_train.config.load import parse
from skyrl_train.rl.overrides import Place, overrides

TOML = """\
[model]
path = "Qwen/Qwen2.5-7B"
gradient_checkpointing = false
lora_rank = {lora}
[data]
train_files = ["a.parquet"]
train_batch_size = 4
[actor]
ppo_mini_batch_size = 4
[rollout]
tensor_parallel_size = 2
[slurm]
gpus_per_node = {gpus}
[trainer]
mode = "separate_async"
rollout_gpus = 2
"""
SHARED = TOML.replace('mode = "separate_async"\nrollout_gpus = 2\n', "")
MODE = "trainer.v1.trainer_mode=separate_async"
R = "actor_rollout_ref.rollout"
VERL = (
    "data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=16 trainer.n_gpus_per_node=4 "
    f"{R}.nnodes=1 {R}.n_gpus_per_node=4 {R}.checkpoint_engine.backend=nccl trainer.v1.separate_async.parameter_sync_step=4"
)


def ours(gpus: int = 4, lora: int = 0, text: str = TOML) -> Plan:
    return plan(text.format(gpus=gpus, lora=lora))


def verl(*words: str) -> Plan:
    return plan(f"python3 -m verl.trainer.main_ppo {VERL} {MODE} {' '.join(words)}\n", "run.sh")


def test_the_budget_has_the_gpus_of_each_part() -> None:
    job = memory_job(ours())
    assert job.rollout is not None
    assert (job.n_gpus, job.rollout.separate, job.rollout.gpus) == (2, True, 2)
    shared = memory_job(ours(text=SHARED))
    assert shared.rollout is not None
    assert (shared.n_gpus, shared.rollout.separate, shared.rollout.gpus) == (4, False, None)


@pytest.mark.parametrize(
    ("words", "separate", "gpus"),
    [
        (("actor_rollout_ref.hybrid_engine=False",), True, 4),
        ((), False, None),  # the trainer's GPUs have servers too
        (("actor_rollout_ref.hybrid_engine=False", "trainer.v1.trainer_mode=sync"), False, None),
    ],
)
def test_the_budget_reads_verls_own_words(words: tuple[str, ...], separate: bool, gpus: int | None) -> None:
    job = memory_job(verl("data.max_prompt_length=10", "data.max_response_length=10", *words))
    assert job.rollout is not None
    assert (job.n_gpus, job.rollout.separate, job.rollout.gpus) == (4, separate, gpus)


def test_the_run_that_verl_is_told_of_is_the_same_one() -> None:
    words = overrides(parse(TOML.format(gpus=4, lora=8)), Place("/j", "/w"), {})
    read = plan(f"python -m verl.trainer.main_ppo {shlex.join(words)}\n", "run.sh")
    assert [problem.message for problem in read.problems] == []
    assert found("CFG012", read) == []
    own = memory_job(ours(lora=8)).rollout
    assert own is not None
    assert memory_job(read).rollout == dataclasses.replace(
        own, dtype="bfloat16", kv_dtype="bfloat16"
    )  # one type, two names
    values = dict(word.split("=", 1) for word in words)
    assert {key: values[key] for key in EXPECTED} == EXPECTED


EXPECTED = {
    "trainer.nnodes": "1",
    "trainer.n_gpus_per_node": "2",
    f"{R}.nnodes": "1",
    f"{R}.n_gpus_per_node": "2",
    "actor_rollout_ref.hybrid_engine": "false",
    "actor_rollout_ref.model.lora.merge": "true",
    "trainer.v1.trainer_mode": "'separate_async'",
    "trainer.v1.separate_async.parameter_sync_step": "1",
    "trainer.v1.separate_async.num_warmup_batches": "1.0",
    f"{R}.checkpoint_engine.backend": "'skyrl'",
    f"{R}.checkpoint_engine.custom_backend_module": "'skyrl_train.rl.weight_sender'",
    "algorithm.rollout_correction.rollout_is": "'token'",
}


def test_a_batch_divides_over_the_gpus_that_train() -> None:
    assert found("CFG002", ours(gpus=4)) == []
    assert [one.message for one in found("CFG002", ours(gpus=5))] == [
        "8 samples (4 prompts x 2 rollouts) do not divide over 3 GPUs",
        "a mini batch of 8 samples (4 prompts x 2 rollouts) does not divide over 3 GPUs",
    ]


def test_a_checkpoint_belongs_to_the_gpus_that_train() -> None:
    for worlds, told in (((2,), []), ((4,), ["/c/global_step_1 was saved by 4 GPUs, but this run has 2"])):
        there = Checkpoints(
            root="/c", tracker="1", found=(Checkpoint(step=1, path="/c/global_step_1", worlds=worlds),), free=0
        )
        assert [one.message.partition(";")[0] for one in world_size_changed(ours(), there)] == told


def test_a_trainer_that_shares_no_gpu_may_keep_its_activations() -> None:
    assert [one.severity for one in found("MEM004", ours(text=SHARED))] == [Severity.WARNING]
    with pytest.raises(AssertionError, match="the trainer and vLLM use different GPUs"):
        found("MEM004", ours())


def test_the_host_has_the_trainers_ranks() -> None:
    apart, shared = training_of(ours(lora=8)), training_of(ours(lora=8, text=SHARED))
    assert apart is not None
    assert shared is not None
    assert (apart.ranks, apart.sleeping_servers) == (2, 0)
    assert (shared.ranks, shared.sleeping_servers) == (4, 2)


IS = "trainer.v1.trainer_mode = separate_async"
SENDER, UPDATES = f"{R}.checkpoint_engine.backend", "trainer.v1.separate_async.parameter_sync_step"
NAIVE = f"{SENDER} is naive, which sends no weights to other GPUs, but {IS} needs that; set it to nccl"
SIZES = f"{UPDATES} = 2 x actor_rollout_ref.actor.ppo_mini_batch_size = 16 is 32, but data.train_batch_size is 64; "


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (f"{R}.nnodes=0", f"{R}.nnodes is 0, but {IS} needs GPUs for rollouts"),
        (f"{R}.n_gpus_per_node=0", f"{R}.n_gpus_per_node is 0, but {IS} needs GPUs for rollouts"),
        (f"{SENDER}=naive", NAIVE),
        (f"{UPDATES}=2", f"{SIZES}{IS} needs the same number"),
    ],
)
def test_what_verl_asserts_of_its_mode(word: str, message: str) -> None:
    quiet = (
        "actor_rollout_ref.actor.use_dynamic_bsz=True",
        f"{R}.log_prob_use_dynamic_bsz=True",
        "critic.use_dynamic_bsz=True",
    )
    quiet = (*quiet, "algorithm.adv_estimator=grpo", "data.max_prompt_length=512", "data.max_response_length=512", f"{R}.name=vllm", f"{R}.n=4")  # fmt: skip
    assert found("CFG012", verl(*quiet)) == []
    assert [one.message for one in found("CFG012", verl(*quiet, word))] == [message]
    assert found("CFG012", verl(*quiet, word, "trainer.v1.trainer_mode=sync")) == []


def test_a_job_has_the_gpus_of_both_parts() -> None:
    text = (
        f"#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=4\npython3 -m verl.trainer.main_ppo {VERL} {MODE}\n"
    )
    messages = [one.message for one in found("SLM005", plan(text, "run.sh"))]
    assert [message for message in messages if "expected" in message and "8" in message] == messages
    assert len(messages) == 1
