"""Slips of the pen, and words that only look alike."""

import pytest

from skyrl_doctor.plan.similar import is_slip, same_kind, similar_key


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("data.train_batchsize", "data.train_batch_size"),
        ("data.max_prompt_lenght", "data.max_prompt_length"),
        ("actor_rolout_ref.rollout.n", "actor_rollout_ref.rollout.n"),
        ("rollout.max_token", "rollout.max_tokens"),
        ("slrum", "slurm"),
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
