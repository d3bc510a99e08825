"""Whether asynchronous training learns what synchronous training does: the toy in all modes, with several seeds, in turns.

    python -m benchmarks.training_gpu.toy_modes --folder /tmp/modes [--seeds 1 2 3] [--mode separate_async] [--cpu]

The reward of a run is the mean of its last four steps. A mode differs from the first one if their means are further apart than
the runs of one mode among themselves. A run that used more and more turns, until most of its rollouts reached the limit and were
masked, has no reward to compare: it happens at high learning rates, in all modes. separate_async takes two GPUs, the others one.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

from benchmarks.training_gpu import proofs, toy
from benchmarks.training_gpu.__main__ import writer
from benchmarks.training_gpu.long_tail import MODES
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import Bench
from benchmarks.training_gpu.runs import ROOT, Run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="scratch")
    parser.add_argument("--out", type=Path, default=Path("toy_modes"), help="what was seen (%(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--mode", action="append", choices=MODES, help="only these, the first of which is compared with (all)"
    )
    parser.add_argument("--lr", type=float, default=3.5e-4, help="learning rate (%(default)s)")
    parser.add_argument("--seconds", type=float, default=3600, help="nothing runs on after so long (%(default)s)")
    parser.add_argument("--together", action="store_true", help="the modes of a seed beside each other")
    parser.add_argument("--cpu", action="store_true", help="on the training stack of a CPU")
    args = parser.parse_args()
    sys.path.append(str(ROOT / "tests"))
    proofs.make_toy_model(args.folder)
    args.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[float]] = {mode: [] for mode in args.mode or MODES}
    with Memory(args.out / "memory.jsonl") as memory:
        end = time.monotonic() + args.seconds
        with Bench(args.folder, args.out, writer(args.out / "toy_modes.jsonl"), memory, end, args.cpu) as bench:
            for seed in args.seeds:
                runs: dict[str, Run] = {}
                for mode in found:
                    runs[mode] = proofs.begin_toy(bench, f"toy-{mode}-{seed}", mode=mode, seed=seed, lr=args.lr)
                    if not args.together:
                        _follow(bench, runs[mode])
                for mode, run in runs.items():
                    _follow(bench, run)
                    rewards = toy.rewards(run.folder / run.name)
                    bench.tell({"run": run.name, "mode": mode, "seed": seed, "rewards": rewards})
                    if len(rewards) >= toy.STEPS and toy.most_scored(run.folder / run.name):
                        found[mode].append(statistics.fmean(rewards[-toy.LAST :]))
    return verdict(found)


def _follow(bench: Bench, run: Run) -> None:
    if run.exit is None:
        run.follow(toy.STEPS, bench.left())
        bench.keep(run, toy.STEPS)


def verdict(found: dict[str, list[float]]) -> int:
    """Prints each mode's rewards. 1 if the modes differ by more than their runs do, or a run is missing."""
    for mode, rewards in found.items():
        sys.stdout.write(f"{mode}: {', '.join(f'{reward:.2f}' for reward in rewards) or 'no run'}\n")
    if any(len(rewards) < 2 for rewards in found.values()):
        sys.stdout.write("too few runs for a verdict\n")
        return 1
    first, *others = found
    noise = max(max(rewards) - min(rewards) for rewards in found.values())
    apart = {mode: abs(statistics.fmean(found[first]) - statistics.fmean(found[mode])) for mode in others}
    for mode, distance in apart.items():
        sys.stdout.write(
            f"{mode}: its mean is {distance:.3f} from that of {first}, runs of one mode differ by up to {noise:.3f}\n"
        )
    return int(any(distance > noise for distance in apart.values()))


if __name__ == "__main__":
    sys.exit(main())
