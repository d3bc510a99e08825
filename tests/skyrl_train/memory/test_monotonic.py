"""What every estimate must obey whatever the run: more work never needs less, more to share it never needs more."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_configs import QWEN_05B, QWEN_15B
from skyrl_train.memory import Critic, Job, Rollout, budget, device_of_size, shape_from_config

SHAPES = tuple(map(shape_from_config, (QWEN_05B, QWEN_15B)))
DEVICE = device_of_size("80GiB")
FLAGS = (
    "gradient_checkpointing",
    "remove_padding",
    "entropy",
    "reference",
    "param_offload",
    "optimizer_offload",
    "torch_compile",
    "flash_cross_entropy",
)


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    flags = {name: draw(st.booleans()) for name in FLAGS}
    return Job(
        prompt_length=draw(st.integers(1, 4096)),
        response_length=draw(st.integers(1, 8192)),
        micro_batch=draw(st.integers(1, 4)),
        mini_batch=draw(st.sampled_from((1, 8, 64))),
        n=draw(st.sampled_from((1, 8))),
        mixed_lengths=True,
        max_tokens=draw(st.sampled_from((None, None, 4096, 32768))),
        n_gpus=draw(st.sampled_from((1, 2, 8))),
        strategy=draw(st.sampled_from(("fsdp", "fsdp2"))),
        attention=draw(st.sampled_from(("flash_attention_2", "sdpa"))),
        fused_kernels=draw(st.sampled_from((None, "torch", "triton"))),
        entropy_chunk=draw(st.sampled_from((None, 2048))),
        lora_rank=draw(st.sampled_from((0, 16))),
        critic=draw(st.sampled_from((None, Critic()))),
        rollout=draw(st.sampled_from((None, Rollout(utilization=0.3)))),
        **flags,
    )


def peak(shape: object, job: Job) -> int:
    return budget(shape, job, DEVICE).trainer_peak.allocated  # type: ignore[arg-type]  # one of SHAPES


@pytest.mark.parametrize("length", ["prompt_length", "response_length"])
@settings(max_examples=60, deadline=None)
@given(shape=st.sampled_from(SHAPES), job=jobs(), more=st.integers(1, 4096))
def test_a_longer_sequence_never_needs_less(length: str, shape: object, job: Job, more: int) -> None:
    longer = replace(job, **{length: getattr(job, length) + more})
    assert peak(shape, longer) >= peak(shape, job)


@settings(max_examples=60, deadline=None)
@given(shape=st.sampled_from(SHAPES), job=jobs())
def test_more_gpus_never_need_more_on_each(shape: object, job: Job) -> None:
    job = replace(job, n_gpus=2, mini_batch=64)
    assert peak(shape, replace(job, n_gpus=8)) <= peak(shape, job)


@settings(max_examples=60, deadline=None)
@given(shape=st.sampled_from(SHAPES), job=jobs())
def test_a_larger_micro_batch_never_needs_less(shape: object, job: Job) -> None:
    job = replace(job, mini_batch=64, n_gpus=1)
    assert peak(shape, replace(job, micro_batch=job.micro_batch + 4)) >= peak(shape, job)


@settings(max_examples=60, deadline=None)
@given(shape=st.sampled_from(SHAPES), job=jobs())
def test_checkpointing_and_offload_never_need_more(shape: object, job: Job) -> None:
    job = replace(job, gradient_checkpointing=False, optimizer_offload=False)
    assert peak(shape, replace(job, gradient_checkpointing=True)) <= peak(shape, job)
    assert peak(shape, replace(job, optimizer_offload=True)) <= peak(shape, job)


@settings(max_examples=60, deadline=None)
@given(shape=st.sampled_from(SHAPES), job=jobs())
def test_a_reference_and_a_critic_never_need_less(shape: object, job: Job) -> None:
    job = replace(job, reference=False, critic=None)
    assert peak(shape, replace(job, reference=True)) >= peak(shape, job)
    assert peak(shape, replace(job, critic=Critic())) >= peak(shape, job)


@settings(max_examples=60, deadline=None)
@given(job=jobs())
def test_a_bigger_model_never_needs_less(job: Job) -> None:
    assert peak(SHAPES[1], job) >= peak(SHAPES[0], job)
