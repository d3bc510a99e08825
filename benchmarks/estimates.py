"""`skyrl-doctor budget` and `accelerate estimate-memory` against the driver: `python -m benchmarks.estimates`.

The measured peaks are those of benchmarks/calibration: verl's workers on one H200. accelerate's figure for training with Adam is
made by its own functions from the configuration of the same model, since its command reads models from the hub only. It needs
accelerate, torch and transformers, and no GPU.
"""

import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.calibration.evaluate import point, read
from skyrl_train.memory import GIB

MEASURED = Path(__file__).parent / "calibration" / "h200-2026-11-21.jsonl"


def by_accelerate(config: Mapping[str, Any]) -> float:
    """GiB for training with Adam. The largest of its four figures counts, as on its screen."""
    from accelerate import init_empty_weights  # type: ignore[import-not-found]
    from accelerate.commands.estimate import estimate_training_usage  # type: ignore[import-not-found]
    from accelerate.utils import calculate_maximum_sizes  # type: ignore[import-not-found]
    from transformers import AutoConfig, AutoModelForCausalLM

    values = dict(config)
    kind = values.pop("model_type")
    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **values))
        model.tie_weights()
    size, _ = calculate_maximum_sizes(model.float())
    return float(max(estimate_training_usage(size, "float32").values())) / GIB


def main() -> int:
    lines = [line for line in read([MEASURED]) if line["kind"] == "engine" and line["outcome"] == "ok"]
    configs = {line["shape"]: line["model"] for line in lines}
    estimates = {shape: by_accelerate(config) for shape, config in configs.items()}
    rows = []
    for line in lines:
        if line["limit_gib"] is None:
            run = point(line)
            rows.append((run.id, line["shape"], run.peak("allocated"), run.allocated, estimates[line["shape"]]))
    print(f"{'run':<42}{'measured':>9}{'budget':>9}{'accelerate':>12}   GiB allocated at the peak")
    for name, _, measured, ours, theirs in rows:
        print(f"{name:<42}{measured:>9.1f}{ours:>9.1f}{theirs:>12.1f}")
    for tool, column in (("budget", 3), ("accelerate", 4)):
        off = [float(row[column]) / float(row[2]) - 1 for row in rows]
        middle, worst = statistics.median(map(abs, off)), max(off, key=abs)
        print(f"{tool}: {len(rows)} runs, off by {middle:.1%} in the median, by {worst:+.0%} at worst")
    return 0


if __name__ == "__main__":
    sys.exit(main())
