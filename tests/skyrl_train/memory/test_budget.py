"""The notes' own cases, and what a budget says of itself."""

from dataclasses import replace

import pytest

from model_configs import LLAMA3_8B, QWEN_05B, QWEN_7B, QWEN_15B
from skyrl_train.memory import (
    Budget,
    Component,
    Critic,
    Job,
    Phase,
    Rollout,
    budget,
    device_named,
    device_of_size,
    job_from_prime,
    shape_from_config,
)
from skyrl_train.memory.trainer import WORKSPACE

SLICE = device_named("A100-40GB 3g.20gb")
H100 = device_named("H100-80GB")
GRPO = Job(
    prompt_length=2048,
    response_length=1024,
    mini_batch=1,
    n=2,
    rollout=Rollout(utilization=0.5, max_model_len=4096),
)
# The notes' one GPU that trainer and vLLM share: a 7B model with adapters.
SHARED = {
    "trainer_gpu_ids": [0],
    "inference_gpu_ids": [0],
    "trainer.model.seq_len": 2048,
    "trainer.model.lora.rank": 8,
    "orchestrator.batch_size": 8,
    "inference.model.enforce_eager": True,
    "inference.model.max_model_len": 4096,
}


def of(config: dict[str, object], job: Job = GRPO) -> Budget:
    return budget(shape_from_config(config), job, SLICE)


def shared(**settings: object) -> Budget:
    keys = {name.replace("__", "."): value for name, value in settings.items()}
    return budget(shape_from_config(QWEN_7B), job_from_prime(SHARED | keys), H100)


def test_one_and_a_half_billion_parameters_do_not_fit_a_slice_of_20_gb() -> None:
    found = of(QWEN_15B)
    assert (found.fits, found.sure) == (False, True)


@pytest.mark.parametrize("lengths", [(256, 128), (2048, 1024), (4096, 2048)])
def test_nor_do_they_at_any_length(lengths: tuple[int, int]) -> None:
    assert not of(QWEN_15B, replace(GRPO, prompt_length=lengths[0], response_length=lengths[1])).fits


@pytest.mark.parametrize("padding", [True, False])
def test_half_a_billion_at_the_lengths_that_worked(padding: bool) -> None:
    found = of(QWEN_05B, replace(GRPO, remove_padding=padding, flash_cross_entropy=padding))
    assert (found.fits, found.problems) == (True, ())


def test_the_lengths_that_ran_out_of_memory_before() -> None:
    """Padded, as that trainer gave them to verl; no flash-attn there to spare the copies."""
    job = replace(GRPO, prompt_length=4096, response_length=2048, remove_padding=False, flash_cross_entropy=False)
    assert not of(QWEN_05B, job).fits


def test_first_attempt_on_one_gpu_without_checkpointing_runs_out_of_memory() -> None:
    found = shared(inference__gpu_memory_utilization=0.45)
    assert (found.fits, found.problems, found.peak.phase) == (False, (), Phase.UPDATE)


def test_second_attempt_was_not_stopped_by_memory() -> None:
    """Offload: what stopped it is TRN003."""
    assert shared(inference__gpu_memory_utilization=0.45, trainer__model__fsdp_cpu_offload=True).fits


def test_fourth_and_fifth_attempt_with_checkpointing_fit_at_the_72_gb_that_were_seen() -> None:
    found = shared(inference__gpu_memory_utilization=0.5, trainer__model__ac__freq=1)
    assert found.fits
    assert found.peak.total == pytest.approx(73.5 * 1024**3, rel=0.05)


def test_vllms_default_share_is_refused_at_its_start() -> None:
    """As it was: "Free memory on device (48.97/79.18 GiB) on startup is less than desired (0.9, 71.26 GiB)"."""
    found = shared(trainer__model__ac__freq=1)
    assert [problem[:44] for problem in found.problems] == ["vLLM cannot start: it requests 71.3 GiB, but"]


def allocated(job: Job, phase: Phase) -> int:
    return {found.phase: found for found in of(QWEN_05B, job).phases}[phase].allocated


def test_offload_does_not_lower_the_updates_peak() -> None:
    offloaded = replace(GRPO, param_offload=True, optimizer_offload=True)
    assert allocated(offloaded, Phase.UPDATE) == allocated(GRPO, Phase.UPDATE)


def test_what_offload_leaves_while_vllm_works() -> None:
    """Adam goes. The weights stay with FSDP1 alone on a rank, as was measured; with FSDP2 they go."""
    weights = 494_032_768 * 4
    offloaded = replace(GRPO, param_offload=True, optimizer_offload=True)
    assert allocated(GRPO, Phase.ROLLOUT) == WORKSPACE + 3 * weights
    assert allocated(offloaded, Phase.ROLLOUT) == WORKSPACE + weights
    assert allocated(replace(offloaded, strategy="fsdp2"), Phase.ROLLOUT) == WORKSPACE


def test_adam_appears_in_the_first_update() -> None:
    phases = {phase.phase: phase for phase in of(QWEN_05B).phases}
    before = phases[Phase.UPDATE_FIRST].components
    assert before[Component.OPTIMIZER] == 2 * before[Component.WEIGHTS]
    assert phases[Phase.UPDATE].allocated >= phases[Phase.UPDATE_FIRST].allocated


def test_phases_come_in_the_order_of_a_run() -> None:
    job = replace(GRPO, reference=True, critic=Critic())
    assert [phase.phase for phase in of(QWEN_05B, job).phases] == list(Phase)


def test_gpus_share_the_states_but_not_the_logits() -> None:
    shape = shape_from_config(LLAMA3_8B)
    job = replace(GRPO, mini_batch=64, remove_padding=False)
    one, eight = (budget(shape, replace(job, n_gpus=gpus), H100) for gpus in (1, 8))
    parts = [{phase.phase: phase.components for phase in found.phases} for found in (one, eight)]
    assert parts[1][Phase.ROLLOUT][Component.WEIGHTS] == pytest.approx(parts[0][Phase.ROLLOUT][Component.WEIGHTS] / 8)
    assert parts[1][Phase.LOG_PROB][Component.LOGITS] == parts[0][Phase.LOG_PROB][Component.LOGITS]


def test_no_room_for_one_sequence_in_the_kv_cache_is_a_problem_of_its_own() -> None:
    job = replace(GRPO, rollout=Rollout(utilization=0.05))
    found = budget(shape_from_config(QWEN_05B), job, device_of_size("80GiB"))
    assert (found.fits, len(found.problems)) == (True, 0)
    found = budget(shape_from_config(QWEN_05B), job, SLICE)
    assert (found.fits, len(found.problems)) == (False, 1)


def test_the_json_has_the_published_keys_and_adds_up() -> None:
    found = of(QWEN_05B).as_json()
    assert list(found) == ["schema", "trainer", "vllm", "device"]
    assert list(found["trainer"]) == ["peak_allocated_gib", "peak_reserved_gib", "phase", "phases"]
    assert list(found["vllm"]) == ["weights_gib", "kv_gib", "graphs_gib", "asleep_gib"]
    assert list(found["device"]) == ["peak_gib", "band_gib", "phase", "limit_gib", "fits"]
    peak = sum(found["trainer"]["phases"][found["device"]["phase"]].values())
    assert peak == pytest.approx(found["device"]["peak_gib"], abs=0.01)
