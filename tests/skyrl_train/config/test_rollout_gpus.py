"""GPUs that only generate rollouts, and those that train."""

import pytest

from skyrl_train.config.load import ConfigError, parse
from skyrl_train.config.rollout_gpus import Split, split_of

SEPARATE = "separate_async"
TEXT = """\
[model]
path = "/m"
[data]
train_batch_size = 4
[actor]
ppo_mini_batch_size = {mini}
[rollout]
tensor_parallel_size = {tensor}
[slurm]
nodes = {nodes}
gpus_per_node = {each}
[trainer]
mode = "{mode}"
rollout_gpus = {rollout}
"""


def reasons(
    *, nodes: int = 1, each: int = 4, rollout: int = 2, tensor: int = 1, mini: int = 4, mode: str = SEPARATE
) -> list[tuple[str, str]]:
    try:
        parse(TEXT.format(nodes=nodes, each=each, rollout=rollout, tensor=tensor, mini=mini, mode=mode))
    except ConfigError as error:
        return [(reason.key, reason.message) for reason in error.reasons]
    return []


@pytest.mark.parametrize(
    ("nodes", "each", "rollout", "expected"),
    [
        (1, 4, 1, (1, 3, 1, 1)),
        (1, 8, 4, (1, 4, 1, 4)),
        (4, 8, 16, (2, 8, 2, 8)),
        (2, 8, 6, (2, 5, 2, 3)),
        (2, 8, 5, None),
        (1, 4, 4, None),
        (1, 4, 0, None),
    ],
)
def test_whole_nodes_or_the_same_number_on_each(
    nodes: int, each: int, rollout: int, expected: tuple[int, int, int, int] | None
) -> None:
    names = ("trainer_nodes", "trainer_gpus", "rollout_nodes", "rollout_gpus")
    parts = split_of(mode=SEPARATE, nodes=nodes, gpus_per_node=each, rollout_gpus=rollout)
    assert parts == (None if expected is None else Split(**dict(zip(names, expected, strict=True))))
    assert split_of(mode="sync", nodes=nodes, gpus_per_node=each, rollout_gpus=rollout) is None


def test_a_batch_divides_over_the_gpus_that_train() -> None:
    config = parse(TEXT.format(nodes=1, each=3, rollout=1, tensor=1, mini=4, mode=SEPARATE))
    assert (config.devices, config.trainer_devices) == (3, 2)
    assert reasons(each=5, rollout=2) == [
        ("data.train_batch_size", "8 samples (4 prompts x 2 rollouts) do not divide over 3 GPUs"),
        (
            "actor.ppo_mini_batch_size",
            "a mini batch of 8 samples (4 prompts x 2 rollouts) does not divide over 3 GPUs",
        ),
    ]


ROLLOUT, SERVER, MINI = "trainer.rollout_gpus", "rollout.tensor_parallel_size", "actor.ppo_mini_batch_size"
IS_SEPARATE = "mode = 'separate_async'"
SHARED = "rollout_gpus = 2, but with mode = 'colocate_async' the rollouts share the trainer's GPUs; "
ALONE = (
    f"{IS_SEPARATE} needs at least 2 GPUs, one for rollouts and one that trains, but the job has 1; use colocate_async"
)
UNEVEN = "rollout_gpus = 3 is neither whole nodes of 4 GPUs nor the same number on each of 2 nodes; "
SEVERAL = f"{IS_SEPARATE} makes one update in a step, but a mini batch has 2 prompts and the train batch 4; use the same number"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, []),
        ({"tensor": 2}, []),
        ({"mode": "colocate_async"}, [(ROLLOUT, SHARED + f"use {IS_SEPARATE}, or rollout_gpus = 0")]),
        ({"each": 1, "rollout": 1}, [("trainer.mode", ALONE)]),
        (
            {"rollout": 4},
            [(ROLLOUT, f"{IS_SEPARATE} needs 1 to 3 of the job's 4 GPUs for rollouts, but rollout_gpus is 4")],
        ),
        ({"nodes": 2, "rollout": 3}, [(ROLLOUT, UNEVEN + "use a multiple of 4 or of 2")]),
        (
            {"each": 3, "rollout": 1, "tensor": 2},
            [(SERVER, "model servers of 2 GPUs do not divide the 1 rollout GPU of a node")],
        ),
        ({"mini": 2}, [(MINI, SEVERAL)]),
    ],
)
def test_what_does_not_fit_is_refused_in_words(settings: dict[str, int], expected: list[tuple[str, str]]) -> None:
    assert reasons(**settings) == expected  # type: ignore[arg-type]  # a mode is a text


@pytest.mark.parametrize("rollout", [0, 3, 8])
def test_the_proposed_number_is_accepted(rollout: int) -> None:
    text = TEXT.format(nodes=2, each=4, rollout=rollout, tensor=1, mini=4, mode=SEPARATE)
    with pytest.raises(ConfigError) as refused:
        parse(text)
    proposed = next(reason.settings for reason in refused.value.reasons if reason.key == "trainer.rollout_gpus")
    number = int(proposed["trainer.rollout_gpus"])
    parts = split_of(mode=SEPARATE, nodes=2, gpus_per_node=4, rollout_gpus=number)
    assert parts is not None
    assert parts.trainer_devices == 8 - number
