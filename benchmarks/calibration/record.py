"""One JSON line a run."""

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.calibration.cases import Case

PACKAGES = ("torch", "verl", "vllm", "transformers", "peft", "ray", "tensordict", "triton")


def versions() -> dict[str, str]:
    """Of everything whose memory is measured."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def gpu() -> dict[str, Any]:
    """The device, without which a figure says nothing."""
    import torch

    if not torch.cuda.is_available():
        return {"name": "none (a trial on the CPU)", "total_gib": 0.0}
    properties = torch.cuda.get_device_properties(0)
    return {
        "name": properties.name,
        "total_gib": round(torch.cuda.mem_get_info()[1] / 2**30, 3),
        "mig": "MIG" in properties.name,
        "multiprocessors": properties.multi_processor_count,
        "cuda": torch.version.cuda,
    }


def head(case: Case, config: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What every kind of run records."""
    return {
        "id": case.id,
        "kind": kind,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "gpu": gpu(),
        "gpus": 1,
        "versions": versions(),
        "shape": case.shape,
        "model": dict(config),
        "job": dict(case.job),
        "fill": list(case.fill),
        "reply_fill": list(case.reply_fill),
        "lengths": [sum(pair) for pair in case.lengths()],
        "flash_attn": case.flash_attn,
        "limit_gib": case.limit_gib,
    }


def append(out: Path, line: Mapping[str, Any]) -> None:
    """Written and closed at once: a campaign that is cut short keeps what it has."""
    with out.open("a") as file:
        file.write(json.dumps(line) + "\n")
