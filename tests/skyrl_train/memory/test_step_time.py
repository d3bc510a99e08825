"""The time of a step and the memory of the host: how they change with the settings."""

from dataclasses import replace

import pytest

from skyrl_train.memory import (
    Critic,
    Device,
    Host,
    Job,
    Lengths,
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
from skyrl_train.memory.step_time import EAGER_PER_LAYER_S, SPEEDS, TERA
from skyrl_train.memory.step_work import Work, log_prob_work, update_work

SHAPE = shape_from_config(known_config("Qwen2.5-7B") or {})
JOB = Job(prompt_length=1024, response_length=4096, n=8, train_batch=256, n_gpus=8, micro_batch=4)
H100 = device_named("H100")
PEAK = SPEEDS["H100-80GB"][0] * TERA


def seconds(job: Job, device: Device = H100) -> StepTime:
    found = step_time(SHAPE, job, budget(SHAPE, job, device).engine, device)
    assert found is not None
    return found


def test_a_step_is_the_sum_of_its_phases() -> None:
    found = seconds(JOB)
    assert found.total == pytest.approx(found.rollout + found.log_prob + found.update + found.weight_sync)


def test_more_replies_take_longer_and_a_faster_gpu_less() -> None:
    assert seconds(replace(JOB, n=16)).total > seconds(JOB).total
    assert (
        seconds(JOB, device_named("H200")).rollout < seconds(JOB).rollout < seconds(JOB, device_named("A100")).rollout
    )


def test_separate_gpus_work_at_the_same_time() -> None:
    found = seconds(replace(JOB, rollout=Rollout(separate=True, gpus=8)))
    assert found.total == max(found.rollout, found.log_prob + found.update) + found.weight_sync


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


def works(**more: object) -> tuple[Work, Work]:
    job = replace(JOB, **more)  # type: ignore[arg-type] # fields of Job by name
    return log_prob_work(SHAPE, job, PEAK), update_work(SHAPE, job, PEAK)


def test_each_part_of_an_update_takes_its_passes() -> None:
    """Two passes back, one forward, one again with checkpointing; frozen weights have no gradient, but are launched."""
    forward = works()[0]
    updates = [
        works(**more)[1] for more in ({}, {"gradient_checkpointing": False}, {"lora_rank": 8}, {"critic": Critic()})
    ]
    assert [update.arithmetic / forward.arithmetic for update in updates] == pytest.approx([4, 3, 3, 8])
    logs = [works(**more)[0] for more in ({"reference": True}, {"critic": Critic()})]
    assert [each.arithmetic / forward.arithmetic for each in logs] == pytest.approx([2, 2])


def test_each_layer_of_a_micro_batch_is_launched() -> None:
    """256 x 8 sequences over 8 GPUs are 256 each: 64 micro batches of 4, and 256 of 1 for log-probs, of 28 layers."""
    logs, update = works()
    assert (logs.launches, logs.gathers, logs.adapters) == (256 * 28, 256 * 28, 0)
    assert (update.launches, update.gathers) == (4 * 64 * 28, 4 * 64 * 28)
    assert works(n_gpus=1, lora_rank=8)[1][1:4] == (4 * 512 * 28, 0, 4 * 512 * 28)
    assert works(sequence_parallel=2)[1].launches == 2 * update.launches
    assert works(max_tokens=16384)[1].launches == 4 * 28 * 256 * 5120 / 16384
    assert works(train_batch=1024, mini_batch=1024, n_gpus=8)[1].launches == 4 * update.launches
    assert works(mini_batch=1, n=1, train_batch=8)[1].launches == 4 * 8 * 28  # each of 8 updates has a micro batch


def test_log_probs_without_the_kernel_go_row_by_row() -> None:
    """Only tokens that occur: the padding is cut before."""
    short = {"lengths": Lengths(1000, 5120), "remove_padding": False}
    assert works(**short)[0].rows == 0
    logs, update = works(**short, flash_cross_entropy=False, critic=Critic())
    assert (logs.rows, update.rows, update.rows_back) == (256_000, 256_000, 256_000)
    assert works(flash_cross_entropy=False, fused_kernels="torch")[0].rows == 0
    assert works(flash_cross_entropy=False, framework="sft")[1].rows == 0


def test_what_is_offloaded_is_moved() -> None:
    size = in_model(SHAPE) * 4 / 8 / 10**9
    logs, update = works(param_offload=True, optimizer_offload=True)
    assert (logs.moved, update.moved) == pytest.approx((size, 3 * size))
    assert works(param_offload=True, optimizer_offload=True, lora_rank=8)[1].moved == pytest.approx(size)


def test_decoding_without_graphs_takes_longer() -> None:
    """Eight sequences on each GPU, in one round."""
    job = replace(JOB, train_batch=8)
    eager, graphs = (seconds(replace(job, rollout=Rollout(enforce_eager=each))).rollout for each in (True, False))
    assert eager - graphs == pytest.approx(28 * EAGER_PER_LAYER_S * 4096)


def test_a_kind_of_run_that_was_measured_is_known() -> None:
    """verl with FSDP on up to four H100s or H200s."""
    job = replace(JOB, n_gpus=4, train_batch=8, mini_batch=8)
    found = [
        seconds(job).measured,
        seconds(job, device_named("A100")).measured,
        seconds(JOB).measured,
        seconds(replace(job, strategy="megatron")).measured,
        seconds(replace(job, strategy="fsdp2", offload_policy=True)).measured,
    ]
    assert found == [True, False, False, False, False]


def test_validation_alone_has_no_step() -> None:
    job = replace(JOB, val_only=True)
    assert step_time(SHAPE, job, budget(SHAPE, job, H100).engine, H100) is None
