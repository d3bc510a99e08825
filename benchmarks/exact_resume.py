"""Kills a deterministic training at random moments and resumes it: every resumed run must equal the one that was not killed.

    .venv-cpu/bin/python -m benchmarks.exact_resume --kills 20 --steps 24 [--advantage gae] [--kl loss] [--seed 7] [--out FILE]

Needs the training stack of a CPU (.ci/cpu-stack). The first run is not killed. Of each of its steps are kept: the metrics, and
a digest of each file of the checkpoint, by value: weights, optimiser, learning rate, random numbers, position in the data. Then
the same run is started again and again in another directory. Each time a SIGKILL ends it, four times in five at a moment of a
step, else while it starts. All steps of all lives are compared. Exit status 1 for the first difference.

exact_resume.jsonl has the results that docs/training.md shows. `--out` adds a line to such a file.
"""

import argparse
import hashlib
import json
import pickle
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

CLOCKS = (
    "timing_s/",
    "timing_per_token_ms/",
    "perf/",
    "rollout_metrics/time",
    "rollout_metrics/outage_s",
    "actor/perf/",
    "critic/perf/",
    "agent_loop/",
    "weights/probe_s",
)
"""Metrics that measure time, or the memory of the machine."""
DURING_START = 0.2
"""Share of the kills that come while the run starts."""
MOST_STARTS = 20
STEPS_AHEAD = 2.0
"""The other kills come within so many steps after the first sync of a life."""
SYNCED = "syncing weights to the model servers"
STARVED = "timed out during startup"
"""What Ray says on a machine that is too busy. Such a start is made again, and is no kill."""
END, NO_START = "end", "Ray did not start"
KL = {
    "none": "",
    "loss": "[actor]\nkl_loss = true\n",
    "reward": "[algorithm]\nkl_in_reward = true\n",
}
"""Where the KL distance to a reference policy counts."""
REFERENCE = {"none": "none", "loss": "KL in the loss", "reward": "KL in the reward"}
Digest = Mapping[str, str]


@dataclass(slots=True)
class Life:
    """One process of a run, from its start to its end."""

    moment: str
    first: int
    steps: list[int] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(slots=True)
class History:
    """The metrics and checkpoints of a run, by step."""

    metrics: dict[int, dict[str, float]] = field(default_factory=dict)
    saved: dict[int, Digest] = field(default_factory=dict)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=7, help="of the moments; the run itself has a seed of its own")
    parser.add_argument("--advantage", default="grpo", choices=("grpo", "gae"))
    parser.add_argument("--kl", default="none", choices=sorted(KL), help="with a reference policy")
    parser.add_argument("--out", type=Path, help="add the result as a line of JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="exact-resume-") as made:
        return campaign(Path(made), args)


def campaign(folder: Path, args: argparse.Namespace) -> int:
    draw = random.Random(args.seed)
    model = folder / "model"
    make_model(model)
    began = time.monotonic()
    reference, step_s = unkilled(prepared(folder / "reference", model, args), args.steps)
    print(f"reference: {args.steps} steps in {time.monotonic() - began:.0f} s, {step_s:.1f} s a step", flush=True)
    lives: list[Life] = []
    kills = chains = 0
    fault: str | None = None
    while kills < args.kills or (lives and lives[-1].moment != END):
        job = prepared(folder / f"chain{chains}", model, args)
        chains += 1
        while True:
            history, may_kill = History(), kills < args.kills
            life = lived(job, history, draw, step_s, kill=may_kill)
            lives.append(life)
            kills += life.moment not in (END, NO_START)
            fault = difference(reference, history)
            told = f"{life.moment}: steps {life.steps or '-'}, checkpoints {[*history.saved]}, {life.seconds:.0f} s"
            print(f"life {len(lives)}, kill {kills}: {told}: {fault or 'equal'}", flush=True)
            if fault:
                print((job / "run.log").read_text(errors="replace")[-4000:])
            if fault or life.moment == END:
                break
        if fault:
            break
    proven = sum(bool(life.steps) and life.first > 1 for life in lives)
    result = {
        "advantage": args.advantage,
        "kl": args.kl,
        "steps": args.steps,
        "kills": kills,
        "chains": chains,
        "lives": len(lives),
        "resumed lives with a whole step": proven,
        "steps compared": sum(len(life.steps) for life in lives),
        "files of a checkpoint": len(reference.saved[args.steps]),
        "equal": not fault,
        "difference": fault or "",
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps(result))
    if args.out:
        with args.out.open("a", encoding="utf-8") as out:
            out.write(json.dumps(result) + "\n")
    return 1 if fault else 0


def row(result: Mapping[str, Any]) -> str:
    """The row of a result in docs/training.md."""
    advantage, reference = result["advantage"], REFERENCE[result["kl"]]
    lives = f"{result['lives']}, {result['resumed lives with a whole step']}"
    equal = "yes" if result["equal"] else f"no: {result['difference']}"
    counts = (result["steps"], result["kills"], lives, result["steps compared"], result["files of a checkpoint"])
    return f"| {advantage} | {reference} | {' | '.join(map(str, counts))} | {equal} |"


def make_model(directory: Path) -> None:
    """By a child: torch threads of this process stay few."""
    from cpu_stack import tiny

    directory.mkdir()
    tiny.make(str(directory))


def prepared(folder: Path, model: Path, args: argparse.Namespace) -> Path:
    """The job directory of a deterministic run."""
    from cpu_stack.run import write_job
    from skyrl_train.config.load import parse, resolved
    from skyrl_train.launch import directory

    job = folder / "job"
    write_job(job, model, steps=args.steps, advantage=args.advantage, phase_s=900)
    text = (job / directory.CONFIG).read_text(encoding="utf-8")
    more = f"seed = 7\ndeterministic = true\nsave_every_steps = 1\ncheckpoints_to_keep = {args.steps}\n"
    text = text.replace("[trainer]\n", f"[trainer]\n{more}").replace("max_sequences = 8", "max_sequences = 1")
    if args.kl != "none":
        text = text.replace(KL[args.kl].splitlines(keepends=True)[0], KL[args.kl])
    (job / directory.CONFIG).write_text(text, encoding="utf-8")
    (job / directory.RESOLVED).write_text(resolved(parse(text)), encoding="utf-8")
    return job


def unkilled(job: Path, steps: int) -> tuple[History, float]:
    """The reference, and the seconds of one of its steps."""
    from lanes.training.lab import allow, training

    history = History()
    for _ in range(MOST_STARTS):
        allow(job)
        with training(job, "run") as run:
            status = run.status()
        if STARVED not in run.log:
            break
    assert status == 0, run.log[-6000:]
    took = record(job, history, after=0)
    assert [*history.metrics] == [*range(1, steps + 1)], f"steps {[*history.metrics]}"
    return history, sorted(took)[len(took) // 2]


def lived(job: Path, history: History, draw: random.Random, step_s: float, *, kill: bool) -> Life:
    """One life: to the drawn moment, or to the end of the run."""
    from lanes.training.lab import allow, training

    done = last_saved(job)
    during_start = draw.random() < DURING_START
    delay_s = draw.uniform(0.0, 40.0 if during_start else STEPS_AHEAD * step_s)
    began = time.monotonic()
    life = Life(END, done + 1)
    allow(job)  # a chain takes longer than a verdict holds
    with training(job, "run") as run:
        if kill:
            if not during_start:
                run.until(lambda: SYNCED in run.log or run.child.poll() is not None, "the first sync")
            limit = time.monotonic() + delay_s
            while time.monotonic() < limit and run.child.poll() is None:
                time.sleep(0.05)
            if run.child.poll() is None:
                life.moment = f"killed {delay_s:.1f} s after {'the start' if during_start else 'the first sync'}"
                run.signal(signal.SIGKILL)
                run.child.wait()
                run.until_gone()
        if life.moment == END:
            if run.status() and STARVED in run.log:
                life.moment = NO_START
            else:
                assert run.status() == 0, run.log[-6000:]
    life.seconds = time.monotonic() - began
    record(job, history, after=done)
    life.steps = [*history.metrics]
    return life


def record(job: Path, history: History, *, after: int) -> list[float]:
    """Reads the steps and checkpoints of the last life; the seconds of each step."""
    took = []
    metrics = job / "metrics.jsonl"
    for line in metrics.read_text().splitlines() if metrics.exists() else ():
        try:
            found = json.loads(line)["data"]
        except ValueError:  # the kill cut the last line
            break
        step = int(found["training/global_step"])
        if step > after:
            took.append(float(found["timing_s/step"]))
            history.metrics[step] = {name: value for name, value in found.items() if not name.startswith(CLOCKS)}
    for step in complete(job):
        if step > after:
            history.saved[step] = digest(checkpoint(job, step))
    metrics.unlink(missing_ok=True)
    return took


def checkpoints(job: Path) -> Path:
    return job.parent / "checkpoints" / "skyrl" / "run"


def checkpoint(job: Path, step: int) -> Path:
    return checkpoints(job) / f"global_step_{step}"


def complete(job: Path) -> list[int]:
    from skyrl_train.checkpoints.saved import examine

    steps = sorted(int(path.name.rpartition("_")[2]) for path in checkpoints(job).glob("global_step_*"))
    return [step for step in steps if examine(str(checkpoint(job, step))).complete]


def last_saved(job: Path) -> int:
    return max(complete(job), default=0)


def digest(path: Path) -> Digest:
    """A digest of each file with a state, by value: equal values can be pickled in two ways."""
    return {
        str(file.relative_to(path)): hashlib.sha256(b"".join(parts(loaded(file)))).hexdigest()
        for file in sorted(path.rglob("*.pt"))
    }


def loaded(file: Path) -> Any:
    import torch

    return torch.load(file, map_location="cpu", weights_only=False)


def parts(value: Any) -> Iterator[bytes]:
    import numpy as np
    import torch

    if isinstance(value, Mapping):
        for key in value:
            yield repr(key).encode()
            yield from parts(value[key])
    elif isinstance(value, list | tuple):
        yield str(len(value)).encode()
        for one in value:
            yield from parts(one)
    elif isinstance(value, torch.Tensor):
        local = getattr(value, "_local_tensor", value).detach().contiguous()
        yield f"{local.dtype}{tuple(local.shape)}".encode()
        yield local.reshape(-1).view(torch.uint8).numpy().tobytes()
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}".encode() + value.tobytes()
    elif value is None or isinstance(value, bool | int | float | str | bytes):
        yield repr(value).encode()
    else:
        yield pickle.dumps(value)


def difference(reference: History, found: History) -> str | None:
    """The first difference in a step or in a file of a checkpoint."""
    for step, metrics in found.metrics.items():
        expected = reference.metrics[step]
        for name in sorted({*expected, *metrics}):
            if metrics.get(name) != expected.get(name):
                return f"step {step}: {name} is {metrics.get(name)}, not {expected.get(name)}"
    for step, files in found.saved.items():
        expected_files = reference.saved[step]
        for name in sorted({*expected_files, *files}):
            if files.get(name) != expected_files.get(name):
                return f"checkpoint of step {step}: {name} differs"
    return None


if __name__ == "__main__":
    sys.exit(main())
