"""Sizes against files that verl 0.9.1 saved of a tiny Qwen2 on a CPU (torch 2.13): 87,104 parameters, 80,704 with the head tied.

hidden 64, 2 layers, 2 heads, 1 for keys, intermediate 128, 100 tokens; each of the files also holds names and places.
"""

import pytest

from skyrl_train.memory import Critic, Job, shape_from_config
from skyrl_train.memory.checkpoint import checkpoint_size

TINY = {
    "model_type": "qwen2",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "vocab_size": 100,
    "max_position_embeddings": 512,
}


def job(**values: object) -> Job:
    return Job(prompt_length=64, response_length=64, **values)  # type: ignore[arg-type]  # a table of fields


@pytest.mark.parametrize(
    ("tied", "how", "saved"),
    [
        (False, {"strategy": "fsdp2"}, 364_915 + 728_925),
        (True, {"strategy": "fsdp2", "lora_rank": 8}, 431_688 + 164_042),
        (True, {"strategy": "fsdp"}, 361_636 + 649_815),
        (False, {"strategy": "fsdp", "lora_rank": 8}, 461_192 + 155_835),
        (False, {"strategy": "fsdp2", "lora_rank": 8, "n_gpus": 2}, 2 * (250_519 + 98_570)),
    ],
)
def test_against_what_was_saved(tied: bool, how: dict[str, object], saved: int) -> None:
    shape = shape_from_config({**TINY, "tie_word_embeddings": tied})
    size = checkpoint_size(shape, job(**how))
    tensors = 55 if "lora_rank" in how else 27
    assert 0 < saved - size < 3 * tensors * 1024 * int(str(how.get("n_gpus", 1)))


def test_replicas_and_the_critic_save_theirs_too() -> None:
    shape = shape_from_config({**TINY, "tie_word_embeddings": False})
    one = checkpoint_size(shape, job(strategy="fsdp2"))
    assert checkpoint_size(shape, job(strategy="fsdp2", n_gpus=4)) == one
    assert checkpoint_size(shape, job(strategy="fsdp2", n_gpus=4, fsdp_size=2)) == 2 * one
    both = checkpoint_size(shape, job(strategy="fsdp2", critic=Critic()))
    assert both == one + 12 * (87_104 - 6400 + 65)
