"""Runs the cases of a plan on several GPUs: one torchrun for each case, one process for each GPU.

`python -m benchmarks.calibration --plan benchmarks/calibration/several-gpus.toml --out mine.jsonl`. Each process runs the case as
on one GPU; the first one writes the line, with the largest peak of all ranks.
"""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.calibration import campaign
from benchmarks.calibration.cases import A, Case, Knobs, Value, case
from benchmarks.calibration.shapes import SHAPES

KINDS: Mapping[str, Mapping[str, Value]] = {
    "packed": campaign.PACKED,
    "kl": campaign.KL,
    "entropy": campaign.ENTROPY,
    "gae": campaign.GAE,
    "offload": campaign.OFFLOAD,
    "fsdp2": campaign.FSDP2,
    "lora32": campaign.lora(32),
    "sequence_parallel2": {f"{A}.actor.ulysses_sequence_parallel_size": 2, "critic.ulysses_sequence_parallel_size": 2},
    "dynamic8192": campaign.dynamic(8192),
    "dynamic16384": campaign.dynamic(16384),
}
"""What a case of a plan may name, in `with`."""
FIELDS = {"id", "shape", "gpus", "with", "prompt", "response", "micro", "checkpointing", "mixed", "batch"}
LARGEST = 8
LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Several:
    """A case and the number of GPUs that it takes."""

    gpus: int
    case: Case


def read_plan(path: Path) -> list[Several]:
    """The cases of a TOML file. ValueError names the case and the field that is wrong."""
    found = tomllib.loads(path.read_text(encoding="utf-8")).get("case", [])
    if not isinstance(found, list) or not found:
        raise ValueError(f"{path}: expected one [[case]] or more")
    made = [_several(each) for each in found]
    if len({each.case.id for each in made}) < len(made):
        raise ValueError(f"{path}: two cases have one id")
    return made


def _several(table: Mapping[str, Any]) -> Several:
    name = table.get("id", "a case without an id")
    unknown = set(table) - FIELDS
    if unknown:
        raise ValueError(f"{name}: unknown field {min(unknown)}; expected {', '.join(sorted(FIELDS))}")
    if table.get("shape") not in SHAPES:
        raise ValueError(f"{name}: unknown shape {table.get('shape')!r}; expected one of {', '.join(SHAPES)}")
    gpus = table.get("gpus")
    if not isinstance(gpus, int) or not 1 <= gpus <= LARGEST:
        raise ValueError(f"{name}: gpus is {gpus!r}; expected 1 to {LARGEST}")
    kinds = table.get("with", [])
    strange = [kind for kind in kinds if kind not in KINDS]
    if strange:
        raise ValueError(f"{name}: unknown kind {strange[0]!r}; expected one of {', '.join(KINDS)}")
    extra: dict[str, Value] = {"trainer.n_gpus_per_node": gpus}
    for kind in kinds:
        extra |= KINDS[kind]
    micro = int(table.get("micro", 1))
    extra["data.train_batch_size"] = int(table.get("batch", 2 * micro * gpus))
    knobs = Knobs(
        int(table.get("prompt", 2048)),
        int(table.get("response", 1024)),
        micro,
        checkpointing=bool(table.get("checkpointing", True)),
        extra=extra,
    )
    fill = campaign.RAGGED if table.get("mixed") else (1.0,)
    return Several(gpus, case(str(name), str(table["shape"]), knobs, fill=fill, flash_attn="packed" in kinds))


def command(several: Several, plan: Path, out: Path, models: Path) -> list[str]:
    """The torchrun of one case."""
    return [
        sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={several.gpus}",
        "-m", "benchmarks.calibration.several", str(plan), several.case.id, str(out), str(models),
    ]  # fmt: skip


def run(cases: Sequence[Several], plan: Path, out: Path, models: Path) -> int:
    """The number of cases that failed for another reason than memory."""
    failed = 0
    for each in cases:
        try:
            done = subprocess.run(command(each, plan, out, models), timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            print(f"{each.case.id:<44} timed out after {LIMIT_S:.0f} s", flush=True)
            failed += 1
            continue
        failed += done.returncode != 0
    return failed


def share_of(case_of_all: Case, rank: int, ranks: int) -> Case:
    """The samples of one data-parallel rank, as the controller deals them out."""
    samples = int(case_of_all.job["data.train_batch_size"])
    if samples % ranks:
        raise ValueError(f"{case_of_all.id}: {samples} samples do not divide over {ranks} ranks")
    lengths = [case_of_all.fill[(rank + ranks * index) % len(case_of_all.fill)] for index in range(samples // ranks)]
    return replace(case_of_all, job={**case_of_all.job, "data.train_batch_size": samples // ranks}, fill=tuple(lengths))


def merged(lines: Sequence[Mapping[str, Any]], whole: Case, gpus: int) -> dict[str, Any]:
    """One line of all ranks: each phase with its largest peak, and the worst outcome."""
    found = json.loads(json.dumps(max(lines, key=_fullest)))
    for line in lines:
        for name, phase in line["phases"].items():
            kept = found["phases"].setdefault(name, json.loads(json.dumps(phase)))
            for what, size in phase["peak"].items():
                kept["peak"][what] = max(kept["peak"][what], size)
    order = ("error", "oom", "ok")
    worst = min(lines, key=lambda line: order.index(line["outcome"]))
    found |= {key: worst[key] for key in ("outcome", "oom", "error") if key in worst}
    found |= {"gpus": gpus, "job": dict(whole.job), "fill": list(whole.fill)}
    found["lengths"] = [sum(pair) for pair in whole.lengths()]
    return dict(found)


def _fullest(line: Mapping[str, Any]) -> float:
    return max((phase["peak"]["allocated_gib"] for phase in line["phases"].values()), default=0.0)


def main() -> int:
    """One rank of one case, under torchrun."""
    plan, name, out, folder = sys.argv[1:5]
    several = next(each for each in read_plan(Path(plan)) if each.case.id == name)
    import torch
    from torch.distributed import all_gather_object, destroy_process_group

    from benchmarks.calibration import cpu, engine, packed, record, workers

    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    whole = several.case
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    else:
        cpu.register()
        whole = cpu.adapted(whole)
    workers.several_ranks()
    size = int(whole.job.get(f"{A}.actor.ulysses_sequence_parallel_size", 1))
    line = engine.measure(share_of(whole, rank // size, ranks // size), Path(folder), packed.register())
    lines: list[Any] = [None] * ranks
    all_gather_object(lines, line)
    destroy_process_group()
    if rank:
        return 0
    found = merged(lines, whole, several.gpus)
    record.append(Path(out), found)
    print(engine.summary(found), flush=True)
    return 1 if found["outcome"] == "error" else 0


if __name__ == "__main__":
    sys.exit(main())
