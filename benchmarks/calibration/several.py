"""Runs the cases of a plan on several GPUs: one torchrun for each case, one process for each GPU.

`python -m benchmarks.calibration --plan benchmarks/calibration/several-gpus.toml --out mine.jsonl`. Cases run at the same time
where the machine has GPUs for them. Each process runs the case as on one GPU; the first one writes the line, with the
largest peak of all ranks.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.calibration import campaign
from benchmarks.calibration.cases import A, Case, Knobs, Value, case, drawn
from benchmarks.calibration.shapes import SHAPES

KINDS: Mapping[str, Mapping[str, Value]] = {
    "packed": campaign.PACKED,
    "kl": campaign.KL,
    "entropy": campaign.ENTROPY,
    "gae": campaign.GAE,
    "offload": campaign.OFFLOAD,
    "critic_offload": campaign.CRITIC_OFFLOAD,
    "bf16": campaign.BF16,
    "fsdp_size2": {f"{A}.actor.fsdp_config.fsdp_size": 2, f"{A}.ref.fsdp_config.fsdp_size": 2},
    "fsdp2": campaign.FSDP2,
    "lora32": campaign.lora(32),
    "layered_summon": {f"{A}.rollout.layered_summon": True},
    "sequence_parallel2": {f"{A}.actor.ulysses_sequence_parallel_size": 2, "critic.ulysses_sequence_parallel_size": 2},
    "dynamic8192": campaign.dynamic(8192),
    "dynamic16384": campaign.dynamic(16384),
}
"""What a case of a plan may name, in `with`."""
FIELDS = {"id", "shape", "gpus", "with", "prompt", "response", "micro", "checkpointing", "mixed", "batch"}
LARGEST = 8
LIMIT_S = 480.0
GRACE_S = 45.0
"""torchrun gives its ranks 30 s after a SIGTERM."""
PROMPT_SEED, REPLY_SEED = 1, 2


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
    fills: dict[str, object] = {"fill": (1.0,)}
    if table.get("mixed"):
        samples = int(extra["data.train_batch_size"])
        fills = {"fill": drawn(samples, PROMPT_SEED), "reply_fill": drawn(samples, REPLY_SEED)}
    return Several(gpus, case(str(name), str(table["shape"]), knobs, flash_attn="packed" in kinds, **fills))


def command(several: Several, plan: Path, out: Path, models: Path) -> list[str]:
    """The torchrun of one case."""
    return [
        sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={several.gpus}",
        "-m", "benchmarks.calibration.several", str(plan), several.case.id, str(out), str(models),
    ]  # fmt: skip


class Devices:
    """The GPUs of this machine that no case uses."""

    def __init__(self, names: Sequence[str]) -> None:
        self.free = list(names)
        self.total = len(self.free)
        self.changed = threading.Condition()

    def take(self, count: int) -> tuple[str, ...]:
        """Waits until so many are free."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.free) >= count)
            taken, self.free = self.free[:count], self.free[count:]
        return tuple(taken)

    def give(self, taken: Sequence[str]) -> None:
        with self.changed:
            self.free.extend(taken)
            self.changed.notify_all()


def visible(environ: Mapping[str, str], count: int) -> list[str]:
    """The GPUs that cases may use: those of CUDA_VISIBLE_DEVICES, or all of the machine."""
    named = environ.get("CUDA_VISIBLE_DEVICES", "")
    return [name.strip() for name in named.split(",") if name.strip()] or [str(index) for index in range(count)]


def surroundings(devices: Sequence[str], total: int) -> dict[str, str]:
    """The variables of one torchrun. It would set one thread a process, and filling the weights then takes a minute."""
    threads = max(1, (os.cpu_count() or 1) // max(1, total))
    return {"CUDA_VISIBLE_DEVICES": ",".join(devices), "OMP_NUM_THREADS": str(threads)}


def run(cases: Sequence[Several], devices: Devices, execute: Callable[[Several, Mapping[str, str]], int | None]) -> int:
    """Starts the cases in their order, each when enough GPUs are free; the number that failed for another reason than
    memory. `execute` gives the exit status, or None after a time-out."""

    def one(each: Several, taken: tuple[str, ...]) -> bool:
        try:
            status = execute(each, surroundings(taken, devices.total))
        finally:
            devices.give(taken)
        if status is None:
            print(f"{each.case.id:<44} timed out after {LIMIT_S:.0f} s", flush=True)
        return status != 0

    with ThreadPoolExecutor(max_workers=max(1, devices.total)) as pool:
        started = [pool.submit(one, each, devices.take(each.gpus)) for each in cases if each.gpus <= devices.total]
    return sum(each.result() for each in started)


def torchrun(plan: Path, out: Path, models: Path, until: float) -> Callable[[Several, Mapping[str, str]], int | None]:
    """Runs one case as a torchrun; begins none after `until` on the monotonic clock."""

    def execute(each: Several, environ: Mapping[str, str]) -> int | None:
        if time.monotonic() > until:
            print(f"{each.case.id:<44} left out: the time is up", flush=True)
            return 0
        return within(LIMIT_S, command(each, plan, out, models), environ)

    return execute


def within(limit_s: float, words: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """The exit status of a torchrun, or None if it took longer; its ranks are gone then.

    They are in sessions of their own, so only torchrun can end them. Without its SIGTERM they kept the GPUs for the next case.
    """
    started = subprocess.Popen(words, env={**os.environ, **environ}, start_new_session=True)
    try:
        return started.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        started.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(GRACE_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)


def share_of(case_of_all: Case, rank: int, ranks: int) -> Case:
    """The samples of one data-parallel rank, as the controller deals them out."""
    samples = int(case_of_all.job["data.train_batch_size"])
    if samples % ranks:
        raise ValueError(f"{case_of_all.id}: {samples} samples do not divide over {ranks} ranks")
    own = [rank + ranks * index for index in range(samples // ranks)]
    fill, replies = (
        tuple(shares[index % len(shares)] for index in own) if shares else ()
        for shares in (case_of_all.fill, case_of_all.reply_fill)
    )
    job = {**case_of_all.job, "data.train_batch_size": samples // ranks}
    return replace(case_of_all, job=job, fill=fill, reply_fill=replies)


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
    found |= {"gpus": gpus, "job": dict(whole.job), "fill": list(whole.fill), "reply_fill": list(whole.reply_fill)}
    found["outside_torch_gib_by_rank"] = [line.get("outside_torch_gib") for line in lines]
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
