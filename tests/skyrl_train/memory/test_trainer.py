"""The tape against real FSDP.

Each figure was counted storage by storage while torch 2.13 ran two steps of a small model as verl runs them: FSDP1 on one
rank, bfloat16 over float32, CUDA's autocast list, AdamW. Bytes, of the second step. The log-prob phase is left out: there
logsumexp's own temporary, which a count of operators cannot see, decides.
"""

from typing import Any

import pytest

from skyrl_train.memory import Component, Job, Phase, shape_from_config
from skyrl_train.memory.micro_batch import backward, forward
from skyrl_train.memory.tape import Tape
from skyrl_train.memory.trained import actor_of
from skyrl_train.memory.trainer import WORKSPACE, trainer_phases

SMALL: dict[str, Any] = {
    "model_type": "qwen2",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 1024,
    "vocab_size": 8192,
    "tie_word_embeddings": True,
}
WIDE = {"vocab_size": 32768, "hidden_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1}
WIDE |= {"intermediate_size": 64, "num_hidden_layers": 2}
QWEN3 = {"model_type": "qwen3", "num_hidden_layers": 3, "vocab_size": 2048, "head_dim": 128}

SEEN = [
    # config, tokens, sequences, job, whole update, forward and backward of the first micro batch (MB)
    ({}, 256, 1, {}, 120.7, 104.9),
    ({}, 256, 1, {"mini_batch": 2}, 120.7, 104.9),
    ({"vocab_size": 128}, 2048, 1, {}, 101.5, 101.5),
    ({"vocab_size": 128}, 2048, 1, {"gradient_checkpointing": False}, 176.3, 176.3),
    (WIDE, 512, 1, {"entropy": True}, 462.4, 462.4),
    (WIDE, 512, 1, {}, 160.6, 160.6),
    (QWEN3, 400, 2, {"gradient_checkpointing": False}, 112.0, 112.0),
]


@pytest.mark.parametrize(("config", "length", "sequences", "settings", "update", "first"), SEEN)
def test_the_update_as_real_fsdp_runs_it(
    config: dict[str, Any], length: int, sequences: int, settings: dict[str, Any], update: float, first: float
) -> None:
    shape = shape_from_config(SMALL | config)
    known = {"attention": "sdpa", "equal_lengths": True, "flash_cross_entropy": False, "remove_padding": False}
    known |= {"micro_batch": sequences, "mini_batch": sequences} | settings
    job = Job(prompt_length=length - 1, response_length=1, **known)
    peak = (sum(trainer_phases(shape, job)[Phase.UPDATE].peak.values()) - WORKSPACE) / 1e6
    assert peak == pytest.approx(update, rel=0.02)

    tape, model = Tape(), actor_of(shape, job)
    tape.take(Component.WEIGHTS, model.weights + model.optimizer)
    forward(tape, model)
    backward(tape, model, accumulated=False)
    assert sum(tape.peak.values()) / 1e6 == pytest.approx(first, rel=0.02)


@pytest.mark.parametrize(("vocab", "length", "update"), [(8192, 256, 60.8), (128, 1024, 52.6)])
def test_the_update_of_one_rank_of_two(vocab: int, length: int, update: float) -> None:
    """Two ranks over gloo, whose copy of what it reduces is taken off: NCCL makes none."""
    shape = shape_from_config(SMALL | {"vocab_size": vocab})
    known: dict[str, Any] = {
        "attention": "sdpa",
        "equal_lengths": True,
        "flash_cross_entropy": False,
        "remove_padding": False,
    }
    job = Job(prompt_length=length - 1, response_length=1, mini_batch=2, n_gpus=2, **known)
    peak = (sum(trainer_phases(shape, job)[Phase.UPDATE].peak.values()) - WORKSPACE) / 1e6
    assert peak == pytest.approx(update, rel=0.02)


def test_the_tape_gives_back_all_but_the_gradients() -> None:
    shape = shape_from_config(SMALL)
    for job in (
        Job(prompt_length=100, response_length=28),
        Job(prompt_length=100, response_length=28, gradient_checkpointing=False, entropy=True),
        Job(prompt_length=100, response_length=28, n_gpus=4, strategy="fsdp2"),
        Job(prompt_length=100, response_length=28, fused_kernels="torch"),
    ):
        tape, model = Tape(), actor_of(shape, job)
        for accumulated in (False, True):
            forward(tape, model)
            backward(tape, model, accumulated=accumulated)
        assert tape.total == pytest.approx(model.gradients)


def test_the_state_dict_of_one_rank_holds_tied_weights_twice() -> None:
    """As FSDP's own state_dict() did: 32.5 MB of clones beside 24.1 MB of parameters."""
    model = actor_of(shape_from_config(SMALL), Job(prompt_length=1, response_length=1))
    assert (round(model.weights / 1e6, 1), round(model.cloned / 1e6, 1)) == (24.1, 32.5)
