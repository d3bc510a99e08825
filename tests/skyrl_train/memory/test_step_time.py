"""The time of a step and the memory of the host: how they change with the settings."""

from dataclasses import replace

import pytest

from skyrl_train.memory import (
    Critic,
    Device,
    Host,
    Job,
    Rollout,
    StepTime,
    budget,
    device_named,
    device_of_size,
    host_memory,
    shape_from_config,
    step_time,
)
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import in_model

SHAPE = shape_from_config(known_config("Qwen2.5-7B") or {})
JOB = Job(prompt_length=1024, response_length=4096, n=8, train_batch=256, n_gpus=8, micro_batch=4)
H100 = device_named("H100")


def seconds(job: Job, device: Device = H100) -> StepTime:
    found = step_time(SHAPE, job, budget(SHAPE, job, device).engine, device)
    assert found is not None
    return found


def test_a_step_is_the_sum_of_its_phases() -> None:
    found = seconds(JOB)
    assert found.total == pytest.approx(found.rollout + found.log_prob + found.update)


def test_more_replies_take_longer_and_a_faster_gpu_less() -> None:
    assert seconds(replace(JOB, n=16)).total > seconds(JOB).total
    assert (
        seconds(JOB, device_named("H200")).rollout < seconds(JOB).rollout < seconds(JOB, device_named("A100")).rollout
    )


def test_separate_gpus_work_at_the_same_time() -> None:
    found = seconds(replace(JOB, rollout=Rollout(separate=True, gpus=8)))
    assert found.total == max(found.rollout, found.log_prob + found.update)


def test_a_gpu_of_unknown_speed_has_no_time() -> None:
    assert step_time(SHAPE, JOB, None, device_of_size("80GiB")) is None


def test_what_is_offloaded_is_on_the_host() -> None:
    stays, goes = host_memory(SHAPE, JOB), host_memory(SHAPE, replace(JOB, optimizer_offload=True))
    assert goes.states - stays.states == pytest.approx(in_model(SHAPE) * 8 / 8, abs=1)


def test_the_host_keeps_what_is_away_and_reads_the_model_once_for_a_node() -> None:
    size, gib = in_model(SHAPE), 2**30
    plain = host_memory(SHAPE, replace(JOB, rollout=None))
    assert plain == Host(states=0, activations=0, loading=2 * size // 8, processes=5 * gib)
    assert host_memory(SHAPE, JOB).processes == 10 * gib
    assert host_memory(SHAPE, replace(JOB, n_gpus=16)).loading == 2 * size // 8  # nodes of eight GPUs
    assert host_memory(SHAPE, replace(JOB, param_offload=True)).states == round(4 * size / 8)
    assert host_memory(SHAPE, replace(JOB, reference=True)).states == round(4 * size / 8)
    policy = replace(JOB, strategy="fsdp2", offload_policy=True)
    assert host_memory(SHAPE, policy).states == round(4 * 4 * size / 8)  # weights, gradients and two states


def test_each_part_of_an_update_takes_its_passes() -> None:
    """Two passes back, one forward, one again with checkpointing; frozen weights have no gradient."""
    job = replace(JOB, micro_batch=10**6, log_prob_micro_batch=10**6)  # so that micro batches take no time of their own
    forward = seconds(job).log_prob
    updates = [
        seconds(replace(job, **more)).update / forward  # type: ignore[arg-type] # fields of Job by name
        for more in ({}, {"gradient_checkpointing": False}, {"lora_rank": 8}, {"critic": Critic()})
    ]
    assert updates == pytest.approx([4, 3, 3, 8], rel=1e-3)
    logs = [
        seconds(replace(job, **more)).log_prob / forward  # type: ignore[arg-type] # fields of Job by name
        for more in ({"reference": True}, {"critic": Critic()})
    ]
    assert logs == pytest.approx([2, 3], rel=1e-3)


def test_validation_alone_has_no_step() -> None:
    job = replace(JOB, val_only=True)
    assert step_time(SHAPE, job, budget(SHAPE, job, H100).engine, H100) is None
