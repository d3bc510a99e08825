"""What each setting does to the bytes of weights, gradients, optimiser states and gathered units."""

from dataclasses import replace

from skyrl_train.memory import Component, Job, Phase, shape_from_config
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import in_experts, in_layer, in_model, in_root
from skyrl_train.memory.trained import actor_of
from skyrl_train.memory.trainer import trainer_phases

SHAPE = shape_from_config(known_config("Qwen2.5-7B") or {})
SPARSE = shape_from_config(known_config("Qwen3-30B-A3B") or {})
JOB = Job(prompt_length=512, response_length=512, n_gpus=8, rollout=None)


def test_weights_are_divided_over_the_gpus_of_one_mesh() -> None:
    jobs = (JOB, replace(JOB, fsdp_size=2), replace(JOB, fsdp_size=16))
    each = [in_model(SHAPE) * 4 / shards for shards in (8, 2, 8)]
    assert [actor_of(SHAPE, job).weights for job in jobs] == each
    assert [actor_of(SHAPE, job).optimizer for job in jobs] == [2 * size for size in each]


def test_experts_on_other_gpus_are_not_gathered() -> None:
    whole, divided = (actor_of(SPARSE, replace(JOB, expert_parallel=number)).layer for number in (1, 8))
    assert whole == 2 * in_layer(SPARSE)
    assert whole - divided == 2 * in_experts(SPARSE) * 7 / 8


def test_only_fsdp2_leaves_everything_on_the_host() -> None:
    models = [actor_of(SHAPE, replace(JOB, strategy=kind, offload_policy=True)) for kind in ("fsdp", "fsdp2")]
    assert [model.weights for model in models] == [in_model(SHAPE) / 2, 0]
    assert [model.param_offload for model in models] == [False, True]


def test_a_reference_on_one_gpu_arrives_in_float32() -> None:
    job = replace(JOB, n_gpus=1, reference=True)
    unit = 4 * max(in_root(SHAPE), in_layer(SHAPE))
    assert actor_of(SHAPE, job).reference_unit == unit
    small = replace(job, prompt_length=1, response_length=1)
    assert trainer_phases(SHAPE, small)[Phase.REFERENCE].peak[Component.REFERENCE] == unit
