"""Seconds to the first step: plain verl, ours with workers that import for themselves, and ours with copies, in turns.

    python -m benchmarks.training_gpu.start_up --folder /tmp/start-up --gpus 2 --rounds 3 [--steps]

With --steps each run goes on for three steps, and the time of the last two is compared too.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.training_gpu import prepare
from benchmarks.training_gpu.__main__ import writer
from benchmarks.training_gpu.cases import CASES, OURS
from benchmarks.training_gpu.compare import STEP
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import Bench, begun
from benchmarks.training_gpu.runs import ROOT, Run

SIDES = ("plain", "alone", "copies")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="scratch")
    parser.add_argument("--out", type=Path, default=Path("start_up"), help="what was seen (%(default)s)")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, action="append", help="default: all")
    parser.add_argument("--steps", action="store_true", help="go on to the third step")
    parser.add_argument("--seconds", type=float, default=3600, help="nothing runs on after so long (%(default)s)")
    parser.add_argument("--cpu", action="store_true", help="try the program: tiny shapes, figures that say nothing")
    args = parser.parse_args()
    sys.path.append(str(ROOT / "tests"))
    steps = prepare.PLAIN_STEPS if args.steps else 1
    case = CASES[0]._replace(name="start-up", loops=(OURS,) * steps, gib=40, torch_gib=30, kv_gib=4.0, gpus=args.gpus)
    if args.cpu:
        from benchmarks.training_gpu import cpu

        case = cpu.small(case)
    prepare.make_model(case, args.folder / case.name)
    args.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[float]] = {side: [] for side in args.side or SIDES}
    step: dict[str, list[float]] = {side: [] for side in found}
    with Memory(args.out / "memory.jsonl") as memory:
        end = time.monotonic() + args.seconds
        with Bench(args.folder, args.out, writer(args.out / "start_up.jsonl"), memory, end, args.cpu) as bench:
            start: dict[str, Callable[[], Run]] = {
                "plain": lambda: bench.plain(case),
                "alone": lambda: bench.ours(case._replace(forks=False), "-alone"),
                "copies": lambda: bench.ours(case, "-copies"),
            }
            for _ in range(args.rounds):
                for side, seconds in found.items():
                    if args.steps:
                        run = start[side]()
                        run.follow(steps, bench.left(), leave_s=0.0)
                    else:
                        run = begun(bench, start[side])
                    bench.keep(run, steps if args.steps else int(run.begun_s is None))
                    step[side] += [each[STEP] for each in run.steps[1:]]
                    if run.begun_s:
                        seconds.append(run.begun_s)
    _write("to its first step", found)
    if args.steps:
        _write("a step", step)
    return 0 if all((step if args.steps else found).values()) else 1


def _write(what: str, found: dict[str, list[float]]) -> None:
    middle = {side: statistics.median(seconds) for side, seconds in found.items() if seconds}
    for side, median in middle.items():
        share = f", {median / middle['plain']:.2f} of plain verl's" if "plain" in middle else ""
        sys.stdout.write(f"{side}, {what}: {median:.1f} s of {len(found[side])}{share}\n")


if __name__ == "__main__":
    sys.exit(main())
