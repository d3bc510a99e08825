"""What the settings of vLLM do to its cache, its weights and its start."""

from dataclasses import replace

import pytest

from skyrl_train.memory import (
    GIB,
    Component,
    Device,
    Job,
    ModelShape,
    Phase,
    Rollout,
    budget,
    device_of_size,
    shape_from_config,
)
from skyrl_train.memory.budget import CONTEXT as TRAINERS_CONTEXT
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import in_model
from skyrl_train.memory.vllm import CONTEXT, GRAPHS, Engine, engine_of, kv_bytes_per_token

DEVICE = device_of_size("80GiB")


def shape(name: str) -> ModelShape:
    return shape_from_config(known_config(name) or {})


DENSE = shape("Qwen2.5-7B")  # 28 layers, 4 heads of keys and values of 128


def engine(rollout: Rollout, longest: int = 1000) -> Engine:
    return engine_of(DENSE, rollout, DEVICE, longest)


@pytest.mark.parametrize(
    ("rollout", "each"),
    [
        (Rollout(), 2 * 28 * 4 * 128 * 2),
        (Rollout(kv_dtype="fp8"), 2 * 28 * 4 * 128),
        (Rollout(dtype="fp8"), 2 * 28 * 4 * 128 * 2),
        (Rollout(tensor_parallel=2), 2 * 28 * 2 * 128 * 2),
        (Rollout(tensor_parallel=8), 2 * 28 * 1 * 128 * 2),  # a GPU has at least one head
    ],
)
def test_the_cache_of_a_token(rollout: Rollout, each: int) -> None:
    assert kv_bytes_per_token(DENSE, rollout) == each


def test_latent_attention_keeps_one_vector_on_every_gpu() -> None:
    assert kv_bytes_per_token(shape("DeepSeek-V3"), Rollout(tensor_parallel=8)) == 61 * (512 + 64) * 2


def test_layers_with_a_window_keep_no_more_than_that() -> None:
    gemma = shape("gemma-3-1b")  # 26 layers, of which 4 see everything; one head of 256, a window of 512
    each = 2 * 256 * 2
    assert kv_bytes_per_token(gemma, Rollout()) == 4 * each
    short, long = (engine_of(gemma, Rollout(), DEVICE, length).kv_needed for length in (256, 4096))
    assert (short, long) == (26 * 256 * each, 4 * 4096 * each + 22 * 512 * each)


def test_a_sequence_takes_whole_blocks_up_to_max_model_len() -> None:
    each = kv_bytes_per_token(DENSE, Rollout())
    needed = [engine(rollout).kv_needed for rollout in (Rollout(), Rollout(max_model_len=4096))]
    assert needed == [1008 * each, 4096 * each]


def test_graphs_and_a_fixed_cache() -> None:
    plain, eager, fixed = engine(Rollout()), engine(Rollout(enforce_eager=True)), engine(Rollout(kv_bytes=GIB))
    assert (plain.graphs, eager.graphs, eager.kv - plain.kv) == (GRAPHS, 0, GRAPHS)
    assert (fixed.kv, plain.requested) == (GIB, 40 * GIB)
    assert engine(Rollout(tensor_parallel=2)).weights == in_model(DENSE)  # half, in two bytes


def run(rollout: Rollout) -> Job:
    return Job(prompt_length=512, response_length=512, n_gpus=8, rollout=rollout)


def test_only_the_weights_are_awake_while_they_are_sent() -> None:
    found = budget(DENSE, run(Rollout()), DEVICE)
    vllm = {phase.phase: phase.components.get(Component.VLLM, 0) for phase in found.phases}
    asleep = CONTEXT + GRAPHS
    assert (vllm[Phase.LOAD], vllm[Phase.UPDATE]) == (0, asleep)
    assert vllm[Phase.WEIGHT_SYNC] == asleep + 2 * in_model(DENSE)
    assert vllm[Phase.ROLLOUT] == 40 * GIB + CONTEXT


def test_vllm_starts_only_if_its_share_is_free_beside_its_own_context() -> None:
    trainers = in_model(DENSE) * 4 / 8
    free = DEVICE.total - CONTEXT - TRAINERS_CONTEXT - trainers
    problems = [
        budget(DENSE, run(Rollout(utilization=(free + more) / DEVICE.total)), DEVICE).problems for more in (-9, 9)
    ]
    assert problems == [
        (),
        (
            "vLLM cannot start: it requests 74.5 GiB, but only 74.5 GiB of 80.0 GiB are free next to the trainer's weights",
        ),
    ]


@pytest.mark.parametrize(("size", "share"), [(24, 0.67), (25, 0.64), (40, 0.40), (80, 0.20)])
def test_the_proposed_share_is_the_least_that_is_enough(size: int, share: float) -> None:
    device = replace(DEVICE, total=size * GIB)
    found = budget(DENSE, run(Rollout(utilization=0.1)), device)
    assert found.problems == (
        (
            f"gpu_memory_utilization gives vLLM {size / 10:.1f} GiB, but its weights need 14.2 GiB and a forward pass 1.6 GiB; "
            f"raise it to {share:.2f}, or use more GPUs for each engine"
        ),
    )
    shares = [budget(DENSE, run(Rollout(utilization=one)), device).problems for one in (share - 0.01, share)]
    assert [bool(problems) for problems in shares] == [True, False]
    near = found._replace(device=replace(device, total=found.peak.total))
    assert (near.sure, near._replace(problems=()).sure) == (True, False)  # a failure does not depend on the peak


def test_a_model_that_no_share_holds_needs_more_gpus() -> None:
    found = budget(DENSE, run(Rollout()), replace(DEVICE, total=16 * GIB))
    assert found.problems[-1].endswith(" and a forward pass 1.6 GiB; use more GPUs for each engine")


def test_a_shorter_context_helps_only_where_the_weights_leave_room() -> None:
    """A share that the weights fill holds no sequence, however short; what other programs hold cannot be had either."""
    least = engine(Rollout()).fixed + 1
    short = Rollout(utilization=least / DEVICE.total)
    needs = "gpu_memory_utilization gives vLLM 15.8 GiB and leaves 0.00 GiB for the KV cache, but one sequence of the full length needs 0.05 GiB; "
    assert budget(DENSE, run(short), DEVICE).problems == (f"{needs}raise it to 0.20, or lower max_model_len",)
    assert budget(DENSE, run(short), DEVICE, free=20 * GIB).problems[-1] == (
        f"{needs}lower max_model_len, or use more GPUs for each engine"
    )


@pytest.mark.parametrize(("size", "remedy"), [(40, "raise it to 0.40"), (16, "use a larger slice or a whole GPU")])
def test_a_slice_is_not_joined_with_others(size: int, remedy: str) -> None:
    device = Device("A100-80GB 2g.20gb", size * GIB)
    problem = budget(DENSE, run(Rollout(utilization=0.1)), device).problems[-1]
    assert problem.partition("; ")[2] == remedy


def test_vllm_starts_only_if_other_programs_leave_its_share() -> None:
    held = budget(DENSE, run(Rollout()), DEVICE, free=30 * GIB)
    assert held.problems == (
        "vLLM cannot start: it requests 40.0 GiB, but only 24.5 GiB of 80.0 GiB are free next to the trainer's weights",
    )
    assert (held.limit, held.room, held.fits) == (30 * GIB, 30 * GIB - held.peak.total, False)


def test_megatron_was_not_measured() -> None:
    job = replace(run(Rollout()), strategy="megatron")
    assert [budget(DENSE, one, DEVICE).spread for one in (run(Rollout()), job)] == [0.05, 0.2]
    assert budget(shape("Qwen3-30B-A3B"), run(Rollout()), DEVICE).spread == 0.2
