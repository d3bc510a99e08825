"""What Megatron divides over its GPUs."""

from dataclasses import replace

import pytest

from skyrl_train.config.parallel import Parallel
from skyrl_train.memory import (
    Job,
    ModelShape,
    Phase,
    Rollout,
    UnsupportedJobError,
    budget,
    changes,
    device_named,
    job_from_verl,
    shape_from_config,
)
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import in_embedding, in_experts, in_layers, in_model
from skyrl_train.memory.trained import actor_of

A = "actor_rollout_ref.actor"
JOB = Job(prompt_length=512, response_length=512, strategy="megatron", n_gpus=8, rollout=None)


def shape(name: str) -> ModelShape:
    return shape_from_config(known_config(name) or {})


def test_a_dense_model_is_divided_by_tensor_and_pipeline() -> None:
    dense = shape("Llama-3.1-8B")
    actor = actor_of(dense, replace(JOB, parallel=Parallel(tensor=2)))
    each = in_model(dense) / 2
    # the distributed optimiser divides its three float32 copies over the four copies of the model
    assert (actor.weights, actor.gradients, actor.optimizer) == (2 * each, 4 * each, 12 * each / 4)


def test_experts_are_divided_by_their_own_size() -> None:
    sparse = shape("Qwen3-30B-A3B")
    whole, divided = (actor_of(sparse, replace(JOB, parallel=Parallel(expert=number))).weights for number in (1, 8))
    experts = 2 * sparse.layers * in_experts(sparse)
    assert whole - divided == pytest.approx(experts * 7 / 8)


def test_without_the_distributed_optimiser_every_copy_has_all_states() -> None:
    dense = shape("Llama-3.1-8B")
    alone = actor_of(dense, replace(JOB, distributed_optimizer=False))
    assert alone.optimizer == 8 * actor_of(dense, JOB).optimizer == 12 * in_model(dense)


def test_offloaded_gradients_leave_the_gpu_during_rollouts() -> None:
    dense, device = shape("Llama-3.1-8B"), device_named("H100")
    job = replace(JOB, parallel=Parallel(tensor=2), param_offload=True, optimizer_offload=True)
    kept, gone = (
        next(phase for phase in budget(dense, each, device).phases if phase.phase is Phase.ROLLOUT).allocated
        for each in (job, replace(job, grad_offload=True))
    )
    assert kept - gone == round(actor_of(dense, job).gradients)


def test_more_tensor_parallel_gpus_never_need_more_on_each() -> None:
    dense, device = shape("Qwen2.5-7B"), device_named("H100")
    peaks = [budget(dense, replace(JOB, parallel=Parallel(tensor=size)), device).peak.total for size in (1, 2, 4, 8)]
    assert peaks == sorted(peaks, reverse=True)


def test_megatron_without_its_table_is_refused() -> None:
    with pytest.raises(UnsupportedJobError, match="choose it with model_engine=megatron"):
        job_from_verl({f"{A}.strategy": "megatron"})


def test_verls_keys() -> None:
    job = job_from_verl(
        {
            f"{A}.strategy": "megatron",
            "algorithm.adv_estimator": "grpo",
            f"{A}.megatron.tensor_model_parallel_size": 2,
            f"{A}.megatron.expert_model_parallel_size": 4,
            f"{A}.megatron.grad_offload": True,
            f"{A}.megatron.override_transformer_config.recompute_granularity": "full",
        }
    )
    assert job.parallel == Parallel(tensor=2, expert=4)
    assert (job.grad_offload, job.gradient_checkpointing, job.param_offload) == (True, True, False)


def test_each_copy_of_the_experts_has_its_share_of_the_states() -> None:
    sparse = shape("Qwen3-30B-A3B")
    actor = actor_of(sparse, replace(JOB, parallel=Parallel(expert=8)))
    experts = sparse.layers * in_experts(sparse)
    dense = in_model(sparse) - experts
    assert actor.optimizer == pytest.approx(12 * (dense / 8 + experts / 8))  # 8 copies of 1 and one copy of 1/8


def test_the_first_stage_has_the_embedding_and_not_the_head() -> None:
    dense = shape("Llama-3.1-8B")
    actor = actor_of(dense, replace(JOB, parallel=Parallel(pipeline=4)))
    assert actor.weights == 2 * (in_layers(dense) / 4 + in_embedding(dense))


def test_the_first_stage_holds_as_many_micro_batches_as_there_are_stages() -> None:
    dense = shape("Llama-3.1-8B")
    job = replace(JOB, parallel=Parallel(pipeline=4))
    batches = [replace(job, mini_batch=size) for size in (4, 256)]  # of two copies: 2 and 128 samples
    assert [actor_of(dense, one).held_layers for one in batches] == [8 * 2, 8 * 4]


def test_advice_names_megatrons_own_keys() -> None:
    job = replace(JOB, parallel=Parallel(tensor=2), rollout=Rollout())
    update = replace(job, rollout=None, micro_batch=64, gradient_checkpointing=False)
    settings = {
        pair
        for each in (job, update)
        for change in changes(shape("Llama-3.1-8B"), each, device_named("L4"), 20)
        for pair in change.settings
    }
    table = f"{A}.megatron"
    assert settings >= {
        (f"{table}.override_transformer_config.recompute_granularity", "full"),
        (f"{table}.override_transformer_config.recompute_method", "uniform"),
        (f"{table}.override_transformer_config.recompute_num_layers", "1"),
        (f"{table}.param_offload", "true"),
        (f"{table}.optimizer_offload", "true"),
    }
    assert [key for key, _ in settings if ".fsdp_config." in key] == []
