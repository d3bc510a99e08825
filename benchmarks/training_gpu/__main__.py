"""Runs the proofs and writes down what they took. See the package's own words."""

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.training_gpu import cpu, prepare, proofs
from benchmarks.training_gpu.cases import CASES
from benchmarks.training_gpu.compare import verdicts
from benchmarks.training_gpu.memory import Memory
from benchmarks.training_gpu.proofs import Bench
from benchmarks.training_gpu.runs import ROOT

NAMES = (*(case.name for case in CASES), "toy")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("training_gpu"), help="folder of what was seen (%(default)s)")
    parser.add_argument("--folder", type=Path, required=True, help="scratch; for 7B weights it takes 16 GB")
    parser.add_argument("--case", choices=NAMES, action="append", help="default: all")
    parser.add_argument("--seconds", type=float, default=3600, help="nothing runs on after so long (%(default)s)")
    parser.add_argument("--together", action="store_true", help="the larger case loads while the first one trains")
    parser.add_argument("--models", action="store_true", help="only make the models")
    parser.add_argument("--cpu", action="store_true", help="try the program: tiny shapes, figures that say nothing")
    parser.add_argument("--dry-run", action="store_true", help="print the command lines and start nothing")
    return parser


def writer(path: Path) -> Callable[[dict[str, Any]], None]:
    """Each line is there as soon as it is known, whatever happens next."""

    def tell(line: dict[str, Any]) -> None:
        text = json.dumps({"at": round(time.time(), 2), **line})
        shown = {key: value for key, value in line.items() if "/" not in key or key.startswith("timing_s/")}
        sys.stdout.write(json.dumps(shown)[:700] + "\n")
        sys.stdout.flush()
        with path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    return tell


def main(argv: Sequence[str] | None = None) -> int:
    args = arguments().parse_args(argv)
    sys.path.append(str(ROOT / "tests"))  # the toy, and what stands in for a GPU, are the tests' own
    names = args.case or list(NAMES)
    cases = {case.name: cpu.small(case) if args.cpu else case for case in CASES if case.name in names}
    if args.dry_run:
        for case in cases.values():
            folder = args.folder / case.name
            for make in (prepare.ours, prepare.plain):
                sys.stdout.write(" ".join(make(case, folder, total_gib=0.0, on_cpu=args.cpu)) + "\n")
        return 0
    for case in cases.values():
        prepare.make_model(case, args.folder / case.name)
    if "toy" in names:
        proofs.make_toy_model(args.folder)
    if args.models:
        return 0
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    args.out.mkdir(parents=True, exist_ok=True)
    with Memory(args.out / "memory.jsonl") as memory:
        end = time.monotonic() + args.seconds
        bench = Bench(args.folder, args.out, writer(args.out / "results.jsonl"), memory, end, args.cpu)
        with bench:
            found = proofs.prove(bench, cases, with_toy="toy" in names, together=args.together)
    held = {name: verdicts(one) for name, one in found.items()}
    bench.tell({"held": held})
    return 0 if all(all(one.values()) for one in held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
