"""Samples per hour of synchronous and asynchronous training where the tools of some rollouts take long, in turns.

    python -m benchmarks.training_gpu.long_tail --folder /tmp/tail [--gpus 2] [--median 3] [--rounds 1] [--mode separate_async]

Each step trains on 8 prompts x 4 rollouts. The time of a rollout's tools is drawn from a log-normal distribution, and one
in twenty takes ten times as long. It is the same for a row and sample in all modes. All modes have the same GPUs; with
separate_async some of them, half if --rollout-gpus does not tell, only generate.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

from benchmarks.training_gpu import prepare
from benchmarks.training_gpu.__main__ import writer
from benchmarks.training_gpu.cases import OURS, TAIL, Case
from benchmarks.training_gpu.compare import STEP
from benchmarks.training_gpu.marks import TAIL as MEDIAN
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import SMALL_S, Bench
from benchmarks.training_gpu.runs import ROOT, Run
from skyrl_train.contracts.verl_keys import SEPARATE

MODES = ("sync", "colocate_async", SEPARATE)
WARM = 1
"""The first step compiles and fills caches."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="scratch")
    parser.add_argument("--out", type=Path, default=Path("long_tail"), help="what was seen (%(default)s)")
    parser.add_argument("--median", type=float, default=3.0, help="seconds of a rollout's tools (%(default)s)")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--rollout-gpus", type=int, help="of them, with separate_async (half)")
    parser.add_argument("--mode", action="append", choices=MODES, help="only these (all that the GPUs allow)")
    parser.add_argument("--steps", type=int, default=len(TAIL.loops), help="of each run (%(default)s)")
    parser.add_argument("--cpu", action="store_true", help="try the program: tiny shapes, figures that say nothing")
    args = parser.parse_args()
    sys.path.append(str(ROOT / "tests"))
    case = TAIL._replace(gpus=args.gpus, loops=(OURS,) * args.steps)
    if args.cpu:
        from benchmarks.training_gpu import cpu

        case = cpu.small(case)
    prepare.make_model(case, args.folder / case.name)
    args.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[float]] = {mode: [] for mode in args.mode or modes(args.gpus)}
    apart = args.rollout_gpus or args.gpus // 2
    with Memory(args.out / "memory.jsonl") as memory:
        end = time.monotonic() + 3600
        with Bench(args.folder, args.out, writer(args.out / "long_tail.jsonl"), memory, end, args.cpu) as bench:
            for _ in range(args.rounds):
                for mode, rates in found.items():
                    own = case._replace(mode=mode, rollout_gpus=apart if mode == SEPARATE else 0)
                    run = bench.ours(own, f"-{mode}", more={MEDIAN: f"{args.median:g}"})
                    run.follow(len(case.loops), bench.left(SMALL_S))
                    bench.keep(run, len(case.loops))
                    if len(run.steps) == len(case.loops):
                        rates.append(samples_per_hour(case, run))
    for mode, rates in found.items():
        sys.stdout.write(f"{mode}: {', '.join(f'{rate:,.0f}' for rate in rates) or 'no'} samples per hour\n")
    rates = {mode: statistics.median(each) for mode, each in found.items() if each}
    for mode in [mode for mode in rates if mode != MODES[0] and MODES[0] in rates]:
        sys.stdout.write(f"{mode} / {MODES[0]}: {rates[mode] / rates[MODES[0]]:.2f}\n")
    return int(len(rates) < len(found))


def modes(gpus: int) -> tuple[str, ...]:
    return MODES if gpus > 1 else MODES[:-1]


def samples_per_hour(case: Case, run: Run) -> float:
    """Rollouts that were trained on in the steps after the first."""
    return case.sequences * (len(run.steps) - WARM) / sum(step[STEP] for step in run.steps[WARM:]) * 3600


if __name__ == "__main__":
    sys.exit(main())
