"""The figure with expected lengths, and how dynamic batches are packed."""

import math
import random
from dataclasses import replace

import pytest

from skyrl_train.memory import (
    BadJobError,
    Job,
    Lengths,
    budget,
    device_named,
    expected_job,
    lengths_from,
    shape_from_config,
)
from skyrl_train.memory.known import known_config

SHAPE = shape_from_config(known_config("Qwen2.5-1.5B") or {})
DEVICE = device_named("H100")
JOB = Job(prompt_length=512, response_length=1024, micro_batch=16, log_prob_micro_batch=16, rollout=None)
PROMPT, REPLY = Lengths(100, 200), Lengths(220, 500)


def peak(job: Job) -> int:
    return budget(SHAPE, job, DEVICE).peak.total


def test_expected_lengths_need_less_than_the_limits() -> None:
    assert peak(expected_job(JOB, PROMPT, REPLY)) < peak(expected_job(JOB, PROMPT, None)) < peak(JOB)


def test_padded_sequences_are_all_as_long_as_the_limit() -> None:
    padded = replace(JOB, remove_padding=False)
    assert peak(expected_job(padded, PROMPT, REPLY)) == peak(padded)


def test_no_length_is_beyond_its_limit() -> None:
    assert expected_job(JOB, Lengths(9000, 9000), None).lengths == Lengths(1536, 1536)


def test_a_full_micro_batch_is_below_the_sum_of_its_longest() -> None:
    lengths = Lengths(300, 1300)
    assert [lengths.of(number) for number in (1, 4, 100)] == [1300, 3042, 42936]
    assert [Lengths(300, 300).of(number) for number in (1, 4, 100)] == [300, 1200, 30000]


def test_of_a_hundred_micro_batches_the_fullest_is_about_as_full() -> None:
    dice = random.Random(0)
    sums = sorted(sum(300 * math.exp(dice.gauss(0, 0.5)) for _ in range(32)) for _ in range(1000))
    assert Lengths(300, round(300 * math.exp(0.5 * 2.3263))).of(32) == pytest.approx(sums[990], rel=0.02)


@pytest.mark.parametrize(
    ("sequences", "limit", "tokens"),
    [
        (4, 8192, 6144),  # two batches of two
        (8, 8192, 6144),  # four: three would make one of three, which is above the limit (measured on two GPUs)
        (1, 8192, 3072),
        (8, 100_000, 24576),
        (8, 1000, 3072),  # never less than a sequence
    ],
)
def test_a_dynamic_batch_holds_whole_sequences(sequences: int, limit: int, tokens: int) -> None:
    job = replace(JOB, prompt_length=2048, response_length=1024, mini_batch=sequences, max_tokens=limit)
    assert job.tokens(1, limit) == tokens


def test_sequences_of_mixed_lengths_fill_a_dynamic_batch() -> None:
    job = replace(JOB, mini_batch=100, max_tokens=8192, mixed_lengths=True)
    assert job.tokens(1, 8192) == 8192


@pytest.mark.parametrize(
    ("sequences", "tokens"),
    [
        (1, 1000),
        (16, 16000),  # all in one
        (64, 16000),  # four that are nearly full
        (66, 13200),  # 66,000 tokens do not go into four: five, as measured on two GPUs
    ],
)
def test_known_lengths_fill_as_few_dynamic_batches_as_hold_them(sequences: int, tokens: int) -> None:
    job = replace(JOB, mini_batch=sequences, max_tokens=16384, mixed_lengths=True, lengths=Lengths(1000, 1000))
    assert job.tokens(1, 16384) == tokens


def test_where_the_largest_batch_needs_one_more_the_middle_is_expected() -> None:
    lengths = Lengths(1000, 1500)
    job = replace(JOB, mini_batch=64, max_tokens=16384, mixed_lengths=True, lengths=lengths)
    mean, largest = lengths.mean * 64, lengths.of(64)
    assert (mean // 16384, largest // 16384) == (3, 4)
    assert job.tokens(1, 16384) == round((mean / 4 + largest / 5) / 2)


def test_the_limit_of_tokens_is_that_of_one_gpu() -> None:
    job = replace(JOB, n_gpus=2, sequence_parallel=2, mini_batch=100, max_tokens=8192, mixed_lengths=True)
    assert job.tokens(1, 8192) == 8192


@pytest.mark.parametrize("text", ["", "400", "400;900", "900,400", "0,10", "a,b", "1,2,3", "-1,5", "1" * 20 + ",5"])
def test_bad_lengths_are_refused(text: str) -> None:
    with pytest.raises(BadJobError):
        lengths_from(text)


def test_lengths_as_a_user_writes_them() -> None:
    assert lengths_from("400, 1800") == Lengths(400, 1800)
    assert lengths_from("500,500") == Lengths(500, 500)


def test_replies_to_one_prompt_count_as_equally_long() -> None:
    lengths = Lengths(300, 1300)
    assert lengths.of(8, 8) == 8 * lengths.of(1)
    assert lengths.of(8, 4) > lengths.of(8)
