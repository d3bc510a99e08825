"""`python -m benchmarks.calibration`: measure on this machine. See docs/calibration.md."""

import argparse
import importlib.util
import os
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.calibration.campaign import ENGINE, SHORT
from benchmarks.calibration.edges import EDGES


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--part", choices=("engine", "edges", "vllm", "main_ppo"), default="engine")
    parser.add_argument("--plan", type=Path, metavar="FILE", help="cases for several GPUs, such as several-gpus.toml")
    parser.add_argument("--short", action="store_true", help="two tiny runs of verl's workers; works on a CPU")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="ids to run")
    parser.add_argument("--out", type=Path, default=Path("calibration.jsonl"), help="lines are appended (%(default)s)")
    parser.add_argument("--models", type=Path, default=Path("/tmp/calibration-models"), help="scratch (%(default)s)")
    parser.add_argument("--seconds", type=float, default=3600, help="begin no run after so long (%(default)s)")
    parser.add_argument("--list", action="store_true", help="only print the ids")
    return parser


def main(argv: list[str] | None = None) -> int:
    """1 where a run failed for another reason than memory."""
    args = arguments().parse_args(argv)
    if args.plan is not None:
        return _several(args)
    if args.part in ("vllm", "main_ppo"):
        from benchmarks.calibration import main_ppo, vllm_lines

        part = vllm_lines if args.part == "vllm" else main_ppo
        cases, run = part.CASES, part.run
    else:
        cases, run = {"engine": ENGINE, "edges": EDGES}[args.part], None
    cases = SHORT if args.short else cases
    chosen = [case for case in cases if not args.only or any(fnmatch(case.id, pattern) for pattern in args.only)]
    if args.list or not chosen:
        print("\n".join(case.id for case in chosen) or f"no case is called {args.only}")
        return 0 if chosen else 2
    missing = [name for name in ("torch", "verl", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{', '.join(missing)}: not installed for {sys.executable}; see docs/calibration.md", file=sys.stderr)
        return 2
    args.models.mkdir(parents=True, exist_ok=True)
    if run is not None and not args.short:
        return 1 if run(chosen, args.out, args.models) else 0
    from benchmarks.calibration import engine

    return 1 if engine.run(chosen, args.out, args.models, args.seconds) else 0


def _several(args: argparse.Namespace) -> int:
    """The cases of the plan for which this machine has enough GPUs; on a CPU those of two ranks."""
    from benchmarks.calibration import several

    cases = several.read_plan(args.plan)
    chosen = [each for each in cases if not args.only or any(fnmatch(each.case.id, pattern) for pattern in args.only)]
    if args.list or not chosen:
        print("\n".join(each.case.id for each in chosen) or f"no case is called {args.only}")
        return 0 if chosen else 2
    if importlib.util.find_spec("verl") is None:
        print(f"verl: not installed for {sys.executable}; see docs/calibration.md", file=sys.stderr)
        return 2
    import torch

    args.models.mkdir(parents=True, exist_ok=True)
    devices = several.Devices(several.visible(os.environ, torch.cuda.device_count() or 2))
    execute = several.torchrun(args.plan, args.out, args.models, time.monotonic() + args.seconds)
    return 1 if several.run(chosen, devices, execute) else 0


if __name__ == "__main__":
    sys.exit(main())
