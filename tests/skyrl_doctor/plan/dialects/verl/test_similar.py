"""The key that a misspelt key means."""

from skyrl_doctor.plan.dialects.verl.similar import is_misspelt, similar_key
from skyrl_doctor.plan.model import Value

VALUES = {
    key: Value(key, value)
    for key, value in {
        "data.train_batch_size": 1024,
        "data.max_prompt_length": 512,
        "trainer.logger": ["console"],
        "ray_kwargs.ray_init.num_cpus": None,
    }.items()
}


def test_the_same_words_and_the_same_type() -> None:
    asked = {
        "data.train_batchsize": 4,
        "data.train_bach_size": 4,
        "ray_init.num_cpus": 8,
        "data.max_start_length": 512,  # another meaning
        "data.train_batch_sizes": "many",  # another type
        "other.thing": 1,
    }
    assert {key: similar_key(key, value, VALUES) for key, value in asked.items()} == {
        "data.train_batchsize": "data.train_batch_size",
        "data.train_bach_size": "data.train_batch_size",
        "ray_init.num_cpus": "ray_kwargs.ray_init.num_cpus",
        "data.max_start_length": None,
        "data.train_batch_sizes": None,
        "other.thing": None,
    }


def test_one_part_is_misspelt() -> None:
    assert is_misspelt("data.train_bach_size", "data.train_batch_size")
    assert not is_misspelt("dat.train_bach_size", "data.train_batch_size")
    assert not is_misspelt("critic.param_offload", "actor.param_offload")
    assert not is_misspelt("a.b.c", "a.b")
