"""The largest value that fits, and the changes that help."""

from dataclasses import replace

import pytest

from model_configs import QWEN_05B, QWEN_7B, QWEN_15B
from skyrl_train.memory import (
    KNOBS,
    BadJobError,
    Critic,
    Device,
    Job,
    Needed,
    Rollout,
    budget,
    changes,
    device_of_size,
    job_from_prime,
    needed_gpus,
    shape_from_config,
    solve,
)
from skyrl_train.memory.changes import with_changes
from skyrl_train.memory.solve import CONTEXT_UNKNOWN, EVERY
from skyrl_train.memory.together import fit_together

SHAPE = shape_from_config(QWEN_05B)
DEVICE = device_of_size("20GiB")
JOB = Job(
    prompt_length=2048,
    response_length=1024,
    mini_batch=64,
    remove_padding=False,
    flash_cross_entropy=False,
    rollout=Rollout(utilization=0.4),
)


@pytest.mark.parametrize("key", ["micro_batch", "response_length"])
def test_the_next_larger_value_does_not_fit(key: str) -> None:
    found = solve(key, SHAPE, JOB, DEVICE)
    assert found.budget.fits
    assert isinstance(found.value, int)
    assert found.limited == ""
    above = KNOBS[key].change(JOB, found.value + 1)
    assert not budget(SHAPE, above, DEVICE).fits


def test_a_share_too_small_and_one_too_large_are_both_left_out() -> None:
    found = solve("gpu_memory_utilization", SHAPE, JOB, DEVICE)
    assert isinstance(found.value, float)
    assert 0.4 < found.value < 0.95
    assert not budget(SHAPE, replace(JOB, rollout=Rollout(utilization=0.01)), DEVICE).fits


def test_the_largest_share_leaves_memory_for_the_driver_and_other_processes() -> None:
    """More than 0.95 fits by the figures of this model, without a reserve for what they do not cover."""
    alone = replace(JOB, rollout=Rollout(separate=True))
    assert budget(SHAPE, replace(alone, rollout=Rollout(separate=True, utilization=0.96)), DEVICE).fits
    found = solve("gpu_memory_utilization", SHAPE, alone, DEVICE)
    assert (found.value, found.limited) == (0.95, "a larger share leaves nothing for the driver and other processes")


def test_where_nothing_fits_there_is_no_value() -> None:
    found = solve("micro_batch", shape_from_config(QWEN_15B), JOB, DEVICE)
    assert (found.value, found.budget.fits) == (None, False)


def test_what_else_ends_the_search_is_said() -> None:
    found = solve("micro_batch", SHAPE, replace(JOB, mini_batch=2), device_of_size("80GiB"))
    assert (found.value, found.limited) == (2, "a GPU has only 2 samples of a mini batch")


def test_a_micro_batch_divides_the_samples_of_a_gpu() -> None:
    job = replace(JOB, mini_batch=64, n=5, n_gpus=2, rollout=None)
    free = solve("micro_batch", SHAPE, replace(job, n=1, n_gpus=1, mini_batch=9973), device_of_size("40GiB"))
    found = solve("micro_batch", SHAPE, job, device_of_size("40GiB"))
    assert free.value == 1  # a prime number of samples
    assert isinstance(found.value, int)
    assert 1 < found.value < 160
    assert 160 % found.value == 0
    larger = min(value for value in range(found.value + 1, 161) if 160 % value == 0)
    assert not budget(SHAPE, KNOBS["micro_batch"].change(job, larger), device_of_size("40GiB")).fits


def test_a_response_stays_within_the_tokens_of_a_dynamic_micro_batch() -> None:
    """verl stops at the first sequence that is longer."""
    job = replace(JOB, remove_padding=True, max_tokens=4096, log_prob_max_tokens=8192, rollout=None)
    found = solve("response_length", SHAPE, job, device_of_size("140GiB"))
    assert (found.value, found.limited) == (2048, "longer sequences exceed the 4096 tokens of a dynamic micro batch")
    divided = solve("response_length", SHAPE, replace(job, n_gpus=2, sequence_parallel=2), device_of_size("140GiB"))
    assert divided.value == 2 * 4096 - 2048


def test_a_response_is_limited_by_the_models_context() -> None:
    found = solve("response_length", SHAPE, replace(JOB, rollout=None), device_of_size("9000GiB"))
    assert (found.value, found.limited) == (32768 - 2048, "the model's context is 32768 tokens")


def test_a_context_of_a_model_that_names_none_is_not_promised() -> None:
    shape, job = SHAPE._replace(max_positions=None), replace(JOB, rollout=Rollout(utilization=0.6))
    found = solve("max_model_len", shape, job, device_of_size("80GiB"))
    assert found.limited == f"the search stops there; {CONTEXT_UNKNOWN}"
    found = solve("response_length", shape, job, device_of_size("40GiB"))
    assert found.value is not None
    assert (found.value < 1_000_000, found.limited) == (True, CONTEXT_UNKNOWN)


@pytest.mark.parametrize(("key", "value"), [("response_length", 8191), ("max_model_len", 8192)])
def test_lengths_of_prime_rl_end_where_it_cuts_samples(key: str, value: int) -> None:
    """Its trainer packs to seq_len whatever the reply has, so memory alone would allow any reply."""
    job = replace(JOB, framework="prime-rl", prompt_length=7168, response_length=1024, rollout=Rollout(separate=True))
    unknown = SHAPE._replace(max_positions=None)
    found = solve(key, unknown, job, device_of_size("80GiB"))
    assert (found.value, found.limited) == (value, "training cuts prompt + response at seq_len = 8192")
    short = SHAPE._replace(max_positions=4096)
    found = solve(key, short, job, device_of_size("80GiB"))
    assert (found.value, found.limited) == (4096, "the model's context is 4096 tokens")


def test_every_n_fits() -> None:
    found = solve("n", SHAPE, JOB, device_of_size("80GiB"))
    assert (found.value, found.limited) == (1024, EVERY)


@pytest.mark.parametrize("key", ["batch", "", "Micro_Batch"])
def test_keys_that_cannot_be_solved_for(key: str) -> None:
    with pytest.raises(BadJobError, match="use one of micro_batch"):
        solve(key, SHAPE, JOB, DEVICE)


@pytest.mark.parametrize("key", ["max_model_len", "gpu_memory_utilization"])
def test_keys_of_vllm_where_there_is_none(key: str) -> None:
    with pytest.raises(BadJobError) as caught:
        solve(key, SHAPE, replace(JOB, rollout=None), DEVICE)
    assert str(caught.value) == (
        "this run has no vLLM, so settings of vLLM cannot be solved for; solve for response_length"
    )


def test_a_micro_batch_that_is_packed_by_tokens_is_not_solved_for() -> None:
    with pytest.raises(BadJobError) as caught:
        solve("micro_batch", SHAPE, replace(JOB, max_tokens=16384), DEVICE)
    assert str(caught.value) == (
        "this run packs its micro batches by tokens (use_dynamic_bsz or max_tokens_per_microbatch), so micro_batch changes "
        "nothing; solve for response_length"
    )


def test_memory_that_another_program_has_cannot_be_used() -> None:
    alone = solve("response_length", SHAPE, JOB, DEVICE)
    shared = solve("response_length", SHAPE, JOB, DEVICE, free=DEVICE.total - 2**30)
    assert isinstance(alone.value, int)
    assert isinstance(shared.value, int)
    assert shared.value < alone.value
    above = KNOBS["response_length"].change(JOB, shared.value + 1)
    assert shared.budget.peak.total <= DEVICE.total - 2**30 < budget(SHAPE, above, DEVICE).peak.total


def test_the_limit_of_a_share_is_named_only_where_it_is_reached() -> None:
    found = solve("gpu_memory_utilization", SHAPE, JOB, DEVICE)
    assert isinstance(found.value, float)
    assert (found.value < 0.95, found.limited) == (True, "")


def test_both_kinds_of_dynamic_micro_batches_hold_a_sequence() -> None:
    job = replace(JOB, remove_padding=True, max_tokens=8192, log_prob_max_tokens=4096, rollout=None)
    found = solve("response_length", SHAPE, job, device_of_size("140GiB"))
    assert (found.value, found.limited) == (2048, "longer sequences exceed the 4096 tokens of a dynamic micro batch")


def test_three_changes_that_gain_what_they_say() -> None:
    found = changes(SHAPE, replace(JOB, micro_batch=4, log_prob_micro_batch=4), DEVICE)
    assert len(found) == 3
    assert [change.gain for change in found] == sorted((change.gain for change in found), reverse=True)
    now = budget(SHAPE, replace(JOB, micro_batch=4, log_prob_micro_batch=4), DEVICE).peak.total
    assert [now - change.gain for change in found] == [change.budget.peak.total for change in found]
    assert found[0].summary == "compute log-probs and entropy in chunks, without the full logits"


def test_half_of_a_sequence_of_prime_rl_is_a_length_of_prompt_and_response_for_both_programs() -> None:
    """Its trainer refuses to start with a shorter length than the orchestrator's."""
    job = replace(
        job_from_prime({"trainer_gpu_ids": [0], "inference_gpu_ids": [0], "trainer.model.seq_len": 4096}),
        prompt_length=96,
        response_length=4000,
    )
    (found,) = (one for one in changes(SHAPE, job, DEVICE, count=20) if one.summary == "halve seq_len")
    assert found.settings == (("trainer.model.seq_len", "2048"), ("orchestrator.seq_len", "2048"))


def test_switches_are_written_as_toml_and_hydra_both_take_them() -> None:
    job = replace(JOB, gradient_checkpointing=False, critic=Critic(), rollout=Rollout(sleeps=False))
    values = {value for change in changes(SHAPE, job, DEVICE, count=20) for _, value in change.settings}
    assert {"true"} <= values
    assert {value for value in values if value.lower() in ("true", "false")} == {"true"}


def test_a_change_that_gains_nothing_is_not_named() -> None:
    assert "entropy in chunks" not in [change.summary for change in changes(SHAPE, JOB, DEVICE, count=20)]


def test_changes_are_said_in_the_frameworks_own_keys() -> None:
    job = job_from_prime({"trainer_gpu_ids": [0], "inference_gpu_ids": [0], "trainer.model.seq_len": 4096})
    found = changes(SHAPE, job, DEVICE, count=20)
    keys = {key for change in found for key, _ in change.settings}
    assert ("trainer.model.ac.freq", "1") in [setting for change in found for setting in change.settings]
    assert keys <= {"trainer.model.ac.freq", "trainer.model.lora.rank", "trainer.model.seq_len"} | {
        *("inference.gpu_memory_utilization", "orchestrator.seq_len")
    }


def test_other_training_is_the_last_advice_and_only_where_nothing_else_is_enough() -> None:
    """LoRA and shorter replies train another model."""
    job = replace(JOB, micro_batch=4, log_prob_micro_batch=4)
    enough = changes(SHAPE, job, DEVICE, count=20)
    assert any(change.budget.fits for change in enough)
    assert not {"train only adapters of rank 32", "halve the longest response"} & {one.summary for one in enough}
    large = shape_from_config(QWEN_15B)
    short = changes(large, job, DEVICE)
    assert [change.budget.fits for change in short] == [False, False, False]
    assert [change.summary for change in short] == [
        "compute log-probs and entropy in chunks, without the full logits",
        "halve the micro batches",
        "train only adapters of rank 32",
    ]


def test_what_other_programs_hold_decides_on_other_training() -> None:
    """On the whole GPU another change is enough, and in the memory that is free none is."""
    job = replace(JOB, micro_batch=4, log_prob_micro_batch=4, rollout=None)
    other = {"train only adapters of rank 32", "halve the longest response"}
    peak = min(change.budget.peak.total for change in changes(SHAPE, job, DEVICE, count=20))
    found = [
        other & {change.summary for change in changes(SHAPE, job, DEVICE, count=20, free=free)}
        for free in (peak, peak - 1)
    ]
    assert [bool(one) for one in found] == [False, True]


@pytest.mark.parametrize(
    ("size", "second"),
    [(32, "keep Adam's states on the host between updates"), (20, "train only adapters of rank 32"), (15, None)],
)
def test_the_fewest_changes_that_fit_together(size: int, second: str | None) -> None:
    """Adapters train another model, and are combined only if the other changes are not enough together."""
    shape, device = shape_from_config(QWEN_15B), device_of_size(f"{size}GiB")
    job = replace(JOB, micro_batch=4, log_prob_micro_batch=4)
    together = fit_together(shape, job, device, changes(shape, job, device, count=20))
    first = "compute log-probs and entropy in chunks, without the full logits"
    assert [change.summary for change in together] == ([] if second is None else [first, second])
    changed = with_changes(job, together)
    assert changed is not None
    assert budget(shape, changed, device).fits is (second is not None)


def test_one_change_that_is_enough_is_not_combined() -> None:
    job = replace(JOB, micro_batch=4, log_prob_micro_batch=4)
    found = changes(SHAPE, job, DEVICE, count=20)
    assert any(change.budget.fits for change in found)
    assert fit_together(SHAPE, job, DEVICE, found) == ()
    assert fit_together(SHAPE, job, device_of_size("1GiB"), found[:0]) == ()


def test_a_change_that_is_no_longer_open_is_not_combined() -> None:
    """Its settings would be others than those of the advice, or none."""
    job = replace(JOB, remove_padding=True, max_tokens=4000, log_prob_max_tokens=4000, mixed_lengths=True, rollout=None)
    found = changes(SHAPE, job, device_of_size("5GiB"), 20)
    fewer = next(change for change in found if change.summary == "use fewer tokens in a micro batch")
    assert with_changes(job, (fewer, fewer)) is None
    assert with_changes(job, (fewer,)) == replace(job, max_tokens=3072, log_prob_max_tokens=3072)


def test_slices_are_not_joined() -> None:
    shape, job = shape_from_config(QWEN_15B), replace(JOB, rollout=Rollout(utilization=0.15))
    assert needed_gpus(shape, job, Device("A100-80GB 2g.20gb", DEVICE.total)) is None


def test_the_gpus_that_are_enough_are_the_least_by_doubling() -> None:
    shape, job = shape_from_config(QWEN_15B), replace(JOB, rollout=Rollout(utilization=0.15))
    assert budget(shape, job, DEVICE).problems
    found = needed_gpus(shape, job, DEVICE)
    assert found == Needed(gpus=4, tensor_parallel=4)  # two would do without NCCL's buffers
    assert needed_gpus(shape, replace(job, framework="prime-rl"), DEVICE) is None
    assert needed_gpus(shape, job, device_of_size("3GiB")) == Needed(None, None)


def test_engines_divide_the_heads_of_the_model_and_the_search_ends_at_512_gpus() -> None:
    """Qwen2.5-7B has 28 heads: engines of 2 or 4, and not of 8."""
    shape = shape_from_config(QWEN_7B)
    job = replace(JOB, rollout=Rollout(utilization=0.5), n_gpus=8, fused_kernels="torch")
    assert needed_gpus(shape, job, device_of_size("13GiB")) == Needed(gpus=512, tensor_parallel=4)
    assert needed_gpus(shape, job, device_of_size("12.5GiB")) == Needed(None, None)


def test_fewer_tokens_in_a_micro_batch_still_hold_a_sequence() -> None:
    job = replace(JOB, remove_padding=True, max_tokens=4000, log_prob_max_tokens=4000, mixed_lengths=True, rollout=None)
    found = [one.settings for one in changes(SHAPE, job, device_of_size("9GiB"), 20)]
    assert (("actor_rollout_ref.actor.ppo_max_token_len_per_gpu", "3072"),) in found


def test_the_micro_batch_of_a_reference_is_halved_only_if_there_is_one() -> None:
    job = replace(JOB, micro_batch=4, log_prob_micro_batch=4, ref_micro_batch=4)
    key = "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu"
    advised = [
        dict(next(one.settings for one in changes(SHAPE, each, DEVICE, 20) if one.summary == "halve the micro batches"))
        for each in (job, replace(job, reference=True))
    ]
    assert [each.get(key) for each in advised] == [None, "2"]


def test_every_divisor_is_found() -> None:
    """The largest value that fits may be any of them, the last but one among them."""
    sizes, job = [1, 2, 4, 8], replace(JOB, mini_batch=8, rollout=None)
    change, large = KNOBS["micro_batch"].change, device_of_size("140GiB")
    needed = [budget(SHAPE, change(job, size), large).peak.total for size in sizes]
    assert [solve("micro_batch", SHAPE, job, large, free=peak).value for peak in needed] == sizes
