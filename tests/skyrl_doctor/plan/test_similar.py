"""Slips of the pen, and words that only look alike."""

import pytest

from skyrl_doctor.plan.similar import is_slip, likely_key, same_kind, similar_key, similar_word


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("data.train_batchsize", "data.train_batch_size"),
        ("data.max_prompt_lenght", "data.max_prompt_length"),
        ("actor_rolout_ref.rollout.n", "actor_rollout_ref.rollout.n"),
        ("rollout.max_token", "rollout.max_tokens"),
        ("slrum", "slurm"),
        ("data.train_batch_siz", "data.train_batch_size"),
        ("dat.train_batch_size", "data.train_batch_size"),
        ("trainer.save-freq", "trainer.save_freq"),
    ],
)
def test_slips(written: str, known: str) -> None:
    assert is_slip(written, known)


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("data.max_start_length", "data.max_prompt_length"),
        ("data.min_length", "data.max_length"),
        ("actor.lr", "critic.lr"),
        ("rollout.n", "rollout.m"),
        ("rollout.top", "rollout.tp"),
        ("rollout.seed", "rollout.sed_x"),
        ("data.train_files", "data.val_files"),
        ("trainer.test_freq", "trainer.save_freq"),
        ("a.b.c", "a.b"),
    ],
)
def test_other_words(written: str, known: str) -> None:
    assert not is_slip(written, known)


def test_one_key_that_takes_the_value() -> None:
    known = {"a.size": 4, "a.sizes": [4]}
    assert similar_key("a.sise", known, lambda name: same_kind(3, known[name])) == "a.size"
    assert similar_key("a.sise", known, lambda name: same_kind("x", known[name])) is None
    twice = {"a.size": 4, "a.side": 4}
    assert similar_key("a.sixe", twice, twice.__contains__) is None


@pytest.mark.parametrize(
    ("value", "other", "expected"),
    [
        (1, 1.5, True),
        (True, 1, False),
        ("x", "y", True),
        ("x", 1, False),
        (None, 1, True),
        (1, None, True),
        (1, "???", True),
        (["x"], "x", True),
    ],
)
def test_kinds(value: object, other: object, *, expected: bool) -> None:
    assert same_kind(value, other) is expected


KNOWN = (
    "data.train_batch_size", "data.max_prompt_length", "data.max_response_length", "trainer.n_gpus_per_node", "trainer.nnodes",
    "trainer.total_epochs", "trainer.total_training_steps", "actor_rollout_ref.actor.optim.lr", "critic.optim.lr",
    "actor_rollout_ref.rollout.n", "actor_rollout_ref.rollout.tensor_model_parallel_size",
)  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("data.train_bsz", "data.train_batch_size"),
        ("data.max_promt_len", "data.max_prompt_length"),
        ("actor_rollout_ref.actor.lr", "actor_rollout_ref.actor.optim.lr"),
        ("actor_rollout_ref.actor.learning_rate", "actor_rollout_ref.actor.optim.lr"),
        ("actor_rollout_ref.rollout.tp_size", "actor_rollout_ref.rollout.tensor_model_parallel_size"),
        ("actor_rollout_ref.rollout.num_generations", "actor_rollout_ref.rollout.n"),
        ("trainer.gpus_per_node", "trainer.n_gpus_per_node"),
        ("trainer.total_steps", "trainer.total_training_steps"),
        ("data.max_start_length", None),
        ("data.max_length", None),
        ("trainer.foo_bar", None),
    ],
)
def test_a_hint_says_the_same_in_other_words(written: str, meant: str | None) -> None:
    assert likely_key(written, KNOWN, lambda _: True) == meant


def test_a_hint_takes_the_value() -> None:
    assert likely_key("actor_rollout_ref.actor.lr", KNOWN, lambda _: False) is None


def test_a_word_of_a_few() -> None:
    assert similar_word("vlm", ("vllm", "sglang")) == "vllm"
    assert similar_word("gea", ("gae", "gpg", "grpo")) == "gae"
    assert similar_word("mine", ("gae", "grpo")) is None
