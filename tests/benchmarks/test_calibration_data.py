"""The committed measurements: complete, and consistent in themselves."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.calibration.shapes import SHAPES

FOLDER = Path(__file__).parents[2] / "benchmarks" / "calibration"
LINES: list[dict[str, Any]] = [
    json.loads(line) for file in sorted(FOLDER.glob("*.jsonl")) for line in file.read_text().splitlines()
]
ENGINE = [line for line in LINES if line["kind"] == "engine"]
STEP_2 = {"log_prob_2", "update_2", "weight_sync_2", "idle_2"}


def test_there_is_enough() -> None:
    measured = [line for line in ENGINE if line["outcome"] == "ok" and line["limit_gib"] is None]
    assert len(measured) >= 24
    limited = [line["outcome"] for line in ENGINE if line["limit_gib"] is not None]
    assert (limited.count("ok") >= 6, limited.count("oom") >= 6) == (True, True)
    assert {line["kind"] for line in LINES} == {"engine", "vllm", "main_ppo"}


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['kind']}-{line['id']}")
def test_a_line_says_what_it_was_measured_with(line: dict[str, Any]) -> None:
    assert line["outcome"] in ("ok", "oom")
    assert {"torch", "verl", "vllm", "transformers", "python"} <= line["versions"].keys()
    assert line["gpu"]["total_gib"] > 0
    assert line["model"] == SHAPES[line["shape"]]


@pytest.mark.parametrize("line", ENGINE, ids=lambda line: line["id"])
def test_phases_make_sense(line: dict[str, Any]) -> None:
    if line["outcome"] == "ok":
        assert line["phases"].keys() >= STEP_2
    else:
        assert line["oom"]["phase"] not in line["phases"]
    for phase in line["phases"].values():
        for reading in (phase["before"], phase["peak"], phase["after"]):
            assert reading["allocated_gib"] <= reading["reserved_gib"]
        assert phase["peak"]["allocated_gib"] >= max(phase["before"]["allocated_gib"], phase["after"]["allocated_gib"])
        if line["limit_gib"] is not None:
            assert phase["peak"]["reserved_gib"] <= line["limit_gib"] + 0.01


@pytest.mark.parametrize(
    ("run", "driven"), [("main_ppo-0.5b", "0.5b"), ("main_ppo-1.5b-offload-kl", "1.5b-offload-kl")]
)
def test_a_driven_worker_uses_what_a_whole_run_uses(run: str, driven: str) -> None:
    """main_ppo's own maximum after each step, against the driven worker's; the whole run's samples are 2% shorter."""
    steps = next(line["main_ppo"]["steps"] for line in LINES if line["id"] == run)
    phases = next(line["phases"] for line in ENGINE if line["id"] == driven)
    left = next(iter(phases.values()))["before"]
    first = [name for name in phases if not name.endswith("_2") and name not in ("weight_sync", "idle")]
    second = [name for name in phases if name not in ("weight_sync_2", "idle_2")]
    for names, step in ((first, steps[0]), (second, steps[1])):
        for what, within in (("allocated", 0.01), ("reserved", 0.02)):
            highest = max(phases[name]["peak"][f"{what}_gib"] - left[f"{what}_gib"] for name in names)
            assert highest == pytest.approx(step[f"actor/perf/max_memory_{what}_gb"], rel=within)
