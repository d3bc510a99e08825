"""The model against runs of real verl on a GPU, as committed under benchmarks/calibration."""

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.calibration.evaluate import FOLDER, Point, limited, point, read, rows, split, summary, wrong_verdicts
from skyrl_train.memory import GIB, Device, Rollout, shape_from_config
from skyrl_train.memory.vllm import engine_of

LINES = read(sorted(FOLDER.glob("*.jsonl")))
POINTS, LIMITED = split(LINES)

pytestmark = pytest.mark.skipif(not POINTS, reason="no measured configuration is committed yet")


def test_peaks_are_predicted_within_what_is_promised() -> None:
    figures = summary(POINTS)
    assert figures["allocated_median"] <= 0.05
    assert figures["allocated_worst"] <= 0.10
    assert figures["reserved_median"] <= 0.10


def test_they_are_predicted_as_well_as_they_were() -> None:
    """Far inside the promise: what moves these figures has changed the model, and not by a rounding."""
    figures = summary(POINTS)
    assert figures["allocated_worst"] <= 0.04  # a mixture of experts
    assert (figures["reserved_median"], figures["reserved_worst"]) <= (0.035, 0.19)


def _on_several_gpus() -> dict[str, float]:
    """How far each run on several GPUs is off: at full length the worst case, at mixed lengths the expected figure."""
    return {row.line["id"]: row.off for row in rows(POINTS) if row.line.get("gpus", 1) > 1}


def test_runs_on_several_gpus_at_full_length() -> None:
    found = {name: off for name, off in _on_several_gpus().items() if not name.endswith("mixed")}
    assert {"2-1.5b-packed-sequence-parallel", "2-3b-lora32", "4-7b"} <= set(found)
    assert {name: off for name, off in found.items() if abs(off) > 0.05} == {}


def test_runs_on_several_gpus_with_expected_lengths() -> None:
    found = {name: off for name, off in _on_several_gpus().items() if name.endswith("mixed")}
    assert {"4-7b-mixed", "2-1.5b-gae-mixed", "2-moe-mixed", "2-1.5b-packed-dynamic16384-mixed"} <= set(found)
    assert {name: off for name, off in found.items() if not -0.05 <= off <= 0.10} == {}


EXPERTS = ("qwen3-30b-a3b-4-layers",)
LESS_NEAR = {
    "values": 0.05,
    "update_critic": 0.055,  # two GPUs, mixed lengths: three copies of the embedding are missing, below the actor's peak
}
ABOVE_BY_DESIGN = ("load", "weight_sync")
"""With offload. On several GPUs verl moves the actor to the host before it loads the critic. Neither phase is the peak of such a run."""


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.id)
def test_every_phase_is_predicted(point: Point) -> None:
    """A padded micro batch of unequal samples is taken as full, which is too much for the update by design."""
    wrong = {}
    for name, predicted, measured in point.by_phase():
        phase = name.removesuffix("_1").removesuffix("_2")
        near = LESS_NEAR.get(phase, 0.035 if point.line["shape"] not in EXPERTS else 0.05)
        ragged = not point.job.remove_padding and not point.job.equal_lengths and name.startswith("update")
        offloaded = phase in ABOVE_BY_DESIGN and point.job.param_offload and point.job.n_gpus > 1
        if not -near * measured <= predicted - measured <= (1 if ragged or offloaded else near) * measured:
            wrong[name] = (predicted, measured)
    assert wrong == {}


def test_fits_or_not_is_decided_right_at_every_limit() -> None:
    assert wrong_verdicts(POINTS) == []


def test_runs_under_a_limit_end_as_predicted() -> None:
    assert [row[0] for row in limited(LIMITED) if row[3] != row[4]] == []


ENGINES = [line for line in LINES if line["kind"] == "vllm" and line["outcome"] == "ok"]


@pytest.mark.parametrize("line", ENGINES, ids=lambda line: str(line["id"]))
def test_vllms_own_figures(line: Mapping[str, Any]) -> None:
    said = line["vllm"]
    rollout = Rollout(
        utilization=said["gpu_memory_utilization"],
        max_model_len=said["max_model_len"],
        enforce_eager=said["enforce_eager"],
        tensor_parallel=line.get("gpus", 1),
    )
    device = Device(line["gpu"]["name"], round(line["gpu"]["total_gib"] * GIB))
    found = engine_of(shape_from_config(line["model"]), rollout, device, said["max_model_len"])
    assert found.requested / GIB == pytest.approx(said["requested_gib"], abs=0.01)
    assert found.weights / GIB == pytest.approx(said["weights_gib"], rel=0.04)
    assert found.kv / GIB == pytest.approx(said["kv_gib"], rel=0.01)
    assert found.kv_tokens == pytest.approx(said["kv_tokens"], rel=0.01)
    asleep = said["free_gib"]["before"] - said["free_gib"]["asleep_2"]
    assert found.asleep / GIB == pytest.approx(asleep, abs=0.3)


WHOLE_RUNS = [line for line in LINES if line["kind"] == "main_ppo" and line["outcome"] == "ok"]


@pytest.mark.parametrize("line", WHOLE_RUNS, ids=lambda line: str(line["id"]))
def test_a_whole_run_of_main_ppo(line: Mapping[str, Any]) -> None:
    """What verl printed after the second step."""
    last = line["main_ppo"]["steps"][-1]
    found = point({**line, "cross_entropy": line.get("cross_entropy", "torch")})
    most = max(phase.allocated for phase in found.phases.values()) / GIB
    assert most == pytest.approx(last["actor/perf/max_memory_allocated_gb"], rel=0.05)
    assert found.pooled == pytest.approx(last["actor/perf/max_memory_reserved_gb"], rel=0.10)
