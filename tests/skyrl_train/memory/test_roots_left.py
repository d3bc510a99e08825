"""FSDP1 with shards keeps the gathered root after a forward pass, which the next backward pass releases.

Measured with verl 0.9.1 on four H100s (4-7b of benchmarks/calibration/h100-several-gpus-2026-11-27.jsonl).
"""

from dataclasses import replace

import pytest

from model_configs import QWEN_05B
from skyrl_train.memory import Component, Critic, Job, Phase, shape_from_config
from skyrl_train.memory.trained import actor_of
from skyrl_train.memory.trainer import trainer_phases

SHAPE = shape_from_config(QWEN_05B)
JOB = Job(prompt_length=512, response_length=512, mini_batch=64, n_gpus=4, strategy="fsdp", reference=True)
ROOT = round(actor_of(SHAPE, JOB).root)


def peaks(job: Job, part: Component) -> dict[Phase, int]:
    return {phase: played.peak.get(part, 0) for phase, played in trainer_phases(SHAPE, job).items()}


def test_the_references_root_stays_in_every_phase_but_the_first() -> None:
    held = peaks(JOB, Component.REFERENCE)
    arriving = round(2 * actor_of(SHAPE, JOB).arriving(actor_of(SHAPE, JOB).layer))
    assert held.pop(Phase.REFERENCE) in (0, arriving)
    assert held == {phase: 0 if phase is Phase.LOAD else ROOT for phase in held}


def test_the_actors_root_stays_while_reference_and_critic_work() -> None:
    with_critic, without = replace(JOB, critic=Critic()), replace(JOB, critic=Critic(), n_gpus=1)
    sharded, alone = peaks(with_critic, Component.OTHER), peaks(without, Component.OTHER)
    at_rest = actor_of(SHAPE, with_critic).at_rest
    assert sharded[Phase.VALUES] == pytest.approx(at_rest + ROOT, abs=2)
    assert sharded[Phase.CRITIC_UPDATE] == sharded[Phase.VALUES]
    assert sharded[Phase.REFERENCE] - sharded[Phase.LOG_PROB] == pytest.approx(ROOT, abs=2)
    assert alone[Phase.REFERENCE] == alone[Phase.LOG_PROB]


@pytest.mark.parametrize(
    "settings",
    [{"strategy": "fsdp2"}, {"n_gpus": 1}, {"fsdp_size": 2}, {"lora_rank": 32}],
    ids=lambda settings: next(iter(settings)),
)
def test_no_root_of_a_reference_is_left(settings: dict[str, object]) -> None:
    """FSDP2 reshards it, one rank shards nothing, verl releases it with fsdp_size, LoRA has no second model."""
    held = peaks(replace(JOB, **settings), Component.REFERENCE)  # type: ignore[arg-type] # fields of Job by name
    assert {phase: size for phase, size in held.items() if phase not in (Phase.LOAD, Phase.REFERENCE)} == {
        phase: 0 for phase in held if phase not in (Phase.LOAD, Phase.REFERENCE)
    }


def test_the_shards_of_a_reference_are_on_the_host_when_the_actor_loads() -> None:
    sharded, alone = peaks(JOB, Component.REFERENCE), peaks(replace(JOB, n_gpus=1), Component.REFERENCE)
    assert sharded[Phase.LOAD] == 0
    assert alone[Phase.LOAD] == round(actor_of(SHAPE, replace(JOB, n_gpus=1)).weights)


def test_the_state_dict_of_the_adapters_clones_this_ranks_share_of_the_layers() -> None:
    job = replace(JOB, lora_rank=32, n_gpus=2)
    model = actor_of(SHAPE, job)
    root = model.root / model.compute * model.master
    assert model.cut_for_adapters == pytest.approx((model.gathered_for_adapters - root) / 2)
    assert actor_of(SHAPE, replace(job, layered_summon=True)).cut_for_adapters == model.cut_for_adapters
    assert actor_of(SHAPE, replace(job, strategy="fsdp2")).cut_for_adapters == 0
