"""The time of a step and the memory of the host: how they change with the settings."""

from dataclasses import replace

import pytest

from skyrl_train.memory import (
    Device,
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
