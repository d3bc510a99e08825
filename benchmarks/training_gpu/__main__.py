"""Runs both trainers on each case and writes down what they took. See the package's own words."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.calibration import models
from benchmarks.calibration.main_ppo import REWARD
from benchmarks.calibration.shapes import SHAPES
from benchmarks.training_gpu import words
from benchmarks.training_gpu.cases import CASES, Case
from benchmarks.training_gpu.compare import figures, verdicts
from skyrl_train.checkpoints.resume import Resume
from skyrl_train.config.load import parse, resolved
from skyrl_train.launch import commands, directory
from skyrl_train.rl.overrides import Place, overrides

LIMIT_S = 590
PROMPT = "fix the tests "
ROWS = 64
RUNS = ("plain", "ours", "plain_again")
"""Twice plain: what the first run of all leaves in caches helps the next, whichever that is."""


def prepare(case: Case, folder: Path) -> tuple[list[str], list[str]]:
    """The command lines of both runs, and all that they name."""
    job = folder / "ours"
    job.mkdir(parents=True, exist_ok=True)
    tasks, loop, reward = folder / "tasks.jsonl", folder / "loops.yaml", folder / "reward.py"
    lines = [json.dumps(row(case, number)) for number in range(ROWS)]
    tasks.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    loop.write_text(f"- name: skyrl\n  _target_: benchmarks.training_gpu.loop.BareLoop\n  job_dir: {job}\n")
    reward.write_text(REWARD)
    places = {"model": str(folder / "model"), "tasks": str(tasks), "folder": str(folder)}
    text = case.config(**places, loop=str(loop))
    config = parse(text)
    (job / directory.CONFIG).write_text(text, encoding="utf-8")
    (job / directory.RESOLVED).write_text(resolved(config), encoding="utf-8")
    commands.write(str(job), commands.default(sys.executable, config, str(job), None))
    alone = parse(case.config(**places, loop="").replace(f'"{case.name}"', f'"{case.name}-plain"'))
    same = overrides(alone, Place(str(job), str(folder)), Resume(None, 0, ()).overrides)
    return words.ours(str(job)), words.plain(same, rows=str(tasks), reward=str(reward))


def row(case: Case, number: int) -> dict[str, object]:
    """A prompt of nearly the longest length: the tokenizer has a token for each byte."""
    text = (f"{number} " + PROMPT * (case.prompt // len(PROMPT)))[: case.prompt - 64]
    return {
        "prompt": [{"role": "user", "content": text}],
        "data_source": "proof",
        "reward_model": {"style": "rule", "ground_truth": "{}"},
        "extra_info": {"task_id": f"proof-{number}", "image": "none", "index": number},
    }


def run(argv: Sequence[str], case: Case, metrics: Path) -> dict[str, float | None]:
    """One run in a process group of its own; killed at its limit, for a failed weight sync waits for ever."""
    metrics.unlink(missing_ok=True)
    environ = os.environ | {
        "VERL_FILE_LOGGER_PATH": str(metrics),
        "PYTHONPATH": os.getcwd(),
        "VLLM_NO_USAGE_STATS": "1",
    }
    began, first = time.monotonic(), 0.0
    with metrics.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(argv, stdout=log, stderr=log, env=environ, start_new_session=True)
        while process.poll() is None and time.monotonic() - began < LIMIT_S:
            time.sleep(0.5)
            first = first or (time.monotonic() - began if metrics.exists() and metrics.stat().st_size else 0.0)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    lines = metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []
    steps = [json.loads(line)["data"] for line in lines]
    took = figures(steps, started_s=first, sequences=case.batch * case.n)
    return took | {"exit": float(process.wait()), "wall_s": time.monotonic() - began}


def moved(case: Case, folder: Path) -> bool:
    """Whether training changed the weights: the merged model against the one it began with, tensor by tensor."""
    from safetensors.torch import load_file

    from skyrl_train.checkpoints import last_good
    from skyrl_train.checkpoints.merge import merge

    saved = last_good(f"{folder}/checkpoints/skyrl/{case.name}")
    if saved is None:
        return False
    merge(saved, f"{folder}/merged", python=sys.executable, limit_s=LIMIT_S)
    before, after = (tensors(folder / name, load_file) for name in ("model", "merged"))
    return any(not before[name].equal(after[name]) for name in before.keys() & after.keys())


def tensors(folder: Path, load: object) -> dict[str, object]:
    return {name: one for file in sorted(folder.glob("*.safetensors")) for name, one in load(file).items()}  # type: ignore[operator]


def make_model(case: Case, folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    path = models.write(folder / "model", SHAPES[case.shape])
    config = AutoConfig.from_pretrained(path)
    models.from_shape(AutoModelForCausalLM, config=config, dtype=torch.bfloat16).save_pretrained(path)


def prove(case: Case, folder: Path, out: Path, names: Sequence[str]) -> None:
    """The runs that were asked for, each written down when it ends: a node may be lent for one of them at a time."""
    mine, plain = prepare(case, folder)
    if not any((folder / "model").glob("*.safetensors")):
        make_model(case, folder)
    for name in names:
        append(out, case, name, run(mine if name == "ours" else plain, case, folder / f"{name}.jsonl"))
    if "ours" in names:
        append(out, case, "moved", {"moved": moved(case, folder)})


def append(out: Path, case: Case, name: str, found: Mapping[str, object]) -> None:
    line = json.dumps({"case": case.name, "run": name, "at": time.time(), **found})
    print(line, flush=True)
    with out.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def judged(case: Case, out: Path) -> dict[str, bool] | None:
    """Ours against the better of the plain runs, of the last of each; None while one of them is not there."""
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    last = {line["run"]: line for line in lines if line["case"] == case.name}
    plain = [last[name] for name in RUNS if name != "ours" and name in last and last[name]["step_s"]]
    if not plain or "ours" not in last:
        return None
    best = {key: min(one[key] for one in plain) for key in ("step_s", "start_to_first_step_s")}
    return verdicts(last["ours"], best, moved=last.get("moved", {}).get("moved", False))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("training_gpu.jsonl"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--case", choices=[case.name for case in CASES], action="append")
    parser.add_argument(
        "--run", choices=RUNS, action="append", help="this one alone; default: all, plain first and last"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the command lines and start nothing")
    args = parser.parse_args(argv)
    chosen = [case for case in CASES if case.name in (args.case or [one.name for one in CASES])]
    for case in chosen:
        if args.dry_run:
            print(*(" ".join(one) for one in prepare(case, args.folder / case.name)), sep="\n")
        else:
            prove(case, args.folder / case.name, args.out, args.run or RUNS)
    if args.dry_run:
        return 0
    found = {case.name: judged(case, args.out) for case in chosen}
    print(json.dumps(found, indent=1))
    return 0 if all(held is not None and all(held.values()) for held in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
