"""What the campaign of kills calls equal, and what it does not."""

import json
from pathlib import Path

import pytest

from benchmarks.exact_resume import History, difference, row

METRICS = {"actor/pg_loss": 0.25, "critic/score/mean": 0.5}
FILES = {"actor/model.pt": "a", "data.pt": "b"}


ROOT = Path(__file__).parents[2]


def test_the_documented_results_are_those_of_the_data() -> None:
    lines = (ROOT / "benchmarks/exact_resume.jsonl").read_text(encoding="utf-8").splitlines()
    shown = (ROOT / "docs/training.md").read_text(encoding="utf-8").splitlines()
    head = next(number for number, line in enumerate(shown) if line.startswith("| advantage | reference policy |"))
    assert shown[head + 2 : head + 2 + len(lines) + 1] == [*(row(json.loads(line)) for line in lines), ""]


def history(**changes: dict[str, float] | dict[str, str]) -> History:
    return History(
        metrics={1: METRICS, 2: {**METRICS, **changes.get("metrics", {})}},  # type: ignore[dict-item]  # floats here
        saved={1: FILES, 2: {**FILES, **changes.get("files", {})}},  # type: ignore[dict-item]  # texts here
    )


def test_a_part_of_the_same_run_is_equal() -> None:
    later = History(metrics={2: METRICS}, saved={2: FILES})
    assert difference(history(), later) is None
    assert difference(history(), history()) is None


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (history(metrics={"actor/pg_loss": 0.25000001}), "step 2: actor/pg_loss is 0.25000001, not 0.25"),
        (history(metrics={"more": 1.0}), "step 2: more is 1.0, not None"),
        (history(files={"data.pt": "c"}), "checkpoint of step 2: data.pt differs"),
        (history(files={"critic/model.pt": "c"}), "checkpoint of step 2: critic/model.pt differs"),
    ],
)
def test_any_other_value_is_a_difference(changed: History, why: str) -> None:
    assert difference(history(), changed) == why


def test_metrics_of_clocks_are_no_difference(tmp_path: Path) -> None:
    from benchmarks.exact_resume import record

    found = History()
    line = (
        '{"step": 1, "data": {"training/global_step": 1, "timing_s/step": 2.5, "perf/x": 1.0, '
        '"critic/perf/cpu_memory_used_gb": 5.1, "actor/pg_loss": 0.25}}\n'
    )
    (tmp_path / "metrics.jsonl").write_text(line + line[:30])
    assert record(tmp_path, found, after=0) == [2.5]
    assert found.metrics == {1: {"training/global_step": 1, "actor/pg_loss": 0.25}}
