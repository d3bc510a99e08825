"""skyrl-train checkpoints: list them, verify them, remove old ones, and merge one into a Hugging Face model.

PATH is a directory with global_step_N folders, one global_step_N folder, or the job directory of a launch.
"""

import argparse
import os
import sys
from collections.abc import Iterator

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.screen import print_lines, print_note

FAULTY = 1
MOST_S = 7 * 86_400


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="list all checkpoints and mark the one that a resume loads")
    verify = verbs.add_parser("verify", help="find what would break a resume; exit status 1 if anything is found")
    verify.add_argument("--deep", action="store_true", help="also read every byte and compare the checksums")
    verify.add_argument("--gpus", type=int, metavar="N", help="number of GPUs of the run that will resume")
    verify.add_argument("--critic", action="store_true", help="the run has a critic")
    prune = verbs.add_parser("prune", help="list the old checkpoints that can be removed; --apply removes them")
    prune.add_argument("--keep", type=int, default=2, metavar="N", help="keep the newest N (default: 2)")
    prune.add_argument("--torn", action="store_true", help="also remove older checkpoints that are incomplete")
    prune.add_argument("--apply", action="store_true", help="remove them")
    merge = verbs.add_parser("merge", help="write one checkpoint as a Hugging Face model, with its LoRA adapter")
    merge.add_argument(
        "--to", required=True, metavar="DIR", help="directory to create for the model; must not exist yet"
    )
    merge.add_argument(
        "--dtype", default="bf16", choices=("bf16", "fp32"), help="data type of the weights (default: bf16)"
    )
    merge.add_argument(
        "--python", metavar="P", help="Python with torch and transformers (default: $UV_PYTHON, else this one)"
    )
    merge.add_argument("--critic", action="store_true", help="merge the critic instead of the policy")
    merge.add_argument("--limit", type=float, default=7200, metavar="S", help="time limit in seconds (default: 7200)")
    for verb in (listing, verify, prune, merge):
        verb.add_argument(
            "path", metavar="PATH", help="directory of checkpoints, one checkpoint, or the job directory of a launch"
        )
        verb.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    root, step = _root_and_step(args.path)
    return {"list": _list, "verify": _verify, "prune": _prune, "merge": _merge}[args.verb](args, root, step)


def _root_and_step(path: str) -> tuple[str, int | None]:
    """The directory of checkpoints, and the step if the path names one."""
    from skyrl_train.checkpoints.places import checkpoint_root
    from skyrl_train.contracts.checkpoints import layout
    from skyrl_train.launch import commands

    path = os.path.abspath(path)
    if not os.path.isdir(path):
        raise UsageError(
            f"{path} is not a directory; give a directory of checkpoints ({layout.STEP}N) or the job directory of a launch"
        )
    if os.path.basename(path) in (layout.ACTOR, layout.CRITIC):  # verl's own merger takes such a path
        path = os.path.dirname(path)
    step = layout.step_of(os.path.basename(path))
    if step is not None:
        return os.path.dirname(path), step
    if not os.path.exists(os.path.join(path, commands.FILE)):
        return path, None
    launch = commands.read(path)
    return checkpoint_root(launch.config, launch.work_dir(path)), None


def _list(args: argparse.Namespace, root: str, step: int | None) -> int:
    from skyrl_train.checkpoints import render, survey

    found = survey(root)
    _print(render.as_json(found, only=step) if args.format == "json" else render.lines(found, only=step))
    return 0


def _verify(args: argparse.Namespace, root: str, step: int | None) -> int:
    from skyrl_train.checkpoints import render, survey
    from skyrl_train.checkpoints.verify import foreign_import_lines, more_faults

    if args.gpus is not None and args.gpus < 1:
        raise UsageError(f"--gpus is {args.gpus}; expected 1 or more")
    found = survey(root, critic=args.critic or None)
    chosen = tuple(one for one in found.saved if step in (None, one.step))
    if not chosen:
        raise UsageError(
            f"{root}: no checkpoint found; expected {'global_step_N' if step is None else f'global_step_{step}'}"
        )
    faults = {one.step: tuple(more_faults(one, ranks=args.gpus, deep=args.deep)) for one in chosen}
    foreign = tuple(foreign_import_lines(chosen))
    for name in foreign:
        print_note(
            f"skyrl-train checkpoints: {name}; expected only torch and verl. Load it only if you trust its source."
        )
    if args.format == "json":
        _print(render.as_json(found, faults, only=step))
    else:
        _print(
            line
            for one in chosen
            for line in (
                render.line(one),
                *(f"       {fault}" for fault in dict.fromkeys((*one.faults, *faults[one.step]))),
            )
        )
    return FAULTY if foreign or any(not one.complete or faults[one.step] for one in chosen) else 0


def _prune(args: argparse.Namespace, root: str, step: int | None) -> int:
    from skyrl_train.checkpoints import prune, render

    if step is not None:
        raise UsageError(f"{args.path} is one checkpoint; give the directory that holds all of them: {root}")
    pruned = prune(root, keep=args.keep, torn=args.torn, apply=args.apply)
    as_json = args.format == "json"
    _print(render.pruned_json(pruned, apply=args.apply) if as_json else render.pruned_lines(pruned, apply=args.apply))
    return 0


def _merge(args: argparse.Namespace, root: str, step: int | None) -> int:
    import json

    from skyrl_train.checkpoints import examine, last_good
    from skyrl_train.checkpoints.merge import merge
    from skyrl_train.contracts.checkpoints.layout import directory_of

    if not 0 < args.limit <= MOST_S:
        raise UsageError(f"--limit is {args.limit:g}; expected seconds, at most a week (604800)")
    saved = last_good(root) if step is None else examine(os.path.join(root, directory_of(step)))
    if saved is None:
        raise UsageError(f"{root}: no complete checkpoint to merge")
    python = args.python or os.environ.get("UV_PYTHON") or sys.executable
    role = "critic" if args.critic else "actor"
    made = merge(saved, args.to, role=role, dtype=args.dtype, python=python, limit_s=args.limit)
    _print(json.dumps(made._asdict()) + "\n" if args.format == "json" else (f"{made.what}: {made.to}",))
    return 0


def _print(text: str | Iterator[str] | tuple[str, ...]) -> None:
    if isinstance(text, str):
        sys.stdout.write(text)
    else:
        print_lines(text)
