"""skyrl-train checkpoints: what lies on the disk, whether it can be loaded, what may go, and a model made of one.

PATH is the directory that holds global_step_N, one global_step_N itself, or the directory of a launch.
"""

import argparse
import os
import sys
from collections.abc import Iterator

from skyrl_train.contracts.errors import UsageError

FAULTY = 1
MOST_S = 7 * 86_400


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="all of them, and which one a resume takes")
    verify = verbs.add_parser("verify", help="look for what a resume would die of; exit status 1 where there is any")
    verify.add_argument("--deep", action="store_true", help="read every byte and compare checksums")
    verify.add_argument("--gpus", type=int, metavar="N", help="as many GPUs as the run that is to resume has")
    verify.add_argument("--critic", action="store_true", help="the run has a critic")
    prune = verbs.add_parser("prune", help="show which old ones may go, and remove them with --apply")
    prune.add_argument("--keep", type=int, default=2, metavar="N", help="the newest N stay (default: 2)")
    prune.add_argument("--torn", action="store_true", help="older ones that are not whole go too")
    prune.add_argument("--apply", action="store_true", help="remove them")
    merge = verbs.add_parser("merge", help="make a Hugging Face model of one, LoRA adapter included")
    merge.add_argument("--to", required=True, metavar="DIR", help="where the model goes; must not be there yet")
    merge.add_argument("--dtype", default="bf16", choices=("bf16", "fp32"), help="of the weights (default: bf16)")
    merge.add_argument(
        "--python", metavar="P", help="one that has torch and transformers (default: $UV_PYTHON, else ours)"
    )
    merge.add_argument("--critic", action="store_true", help="the critic in the policy's place")
    merge.add_argument("--limit", type=float, default=7200, metavar="S", help="seconds it may take (default: 7200)")
    for verb in (listing, verify, prune, merge):
        verb.add_argument("path", metavar="PATH", help="of checkpoints, one of them, or of a launch")
        verb.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    root, step = _place(args.path)
    return {"list": _list, "verify": _verify, "prune": _prune, "merge": _merge}[args.verb](args, root, step)


def _place(path: str) -> tuple[str, int | None]:
    """The directory of checkpoints, and the step if one is named."""
    from skyrl_train.checkpoints.places import checkpoint_root, work_dir_of
    from skyrl_train.contracts.checkpoints import layout
    from skyrl_train.launch import commands

    path = os.path.abspath(path)
    if not os.path.isdir(path):
        raise UsageError(f"{path} is no directory; wanted one of checkpoints ({layout.STEP}N) or of a launch")
    if os.path.basename(path) in (layout.ACTOR, layout.CRITIC):  # as verl's own merger takes it
        path = os.path.dirname(path)
    step = layout.step_of(os.path.basename(path))
    if step is not None:
        return os.path.dirname(path), step
    if not os.path.exists(os.path.join(path, commands.FILE)):
        return path, None
    return checkpoint_root(commands.read(path).config, work_dir_of(path)), None


def _list(args: argparse.Namespace, root: str, step: int | None) -> int:
    from skyrl_train.checkpoints import render, survey

    found = survey(root)
    _say(render.as_json(found, only=step) if args.format == "json" else render.lines(found, only=step))
    return 0


def _verify(args: argparse.Namespace, root: str, step: int | None) -> int:
    from skyrl_train.checkpoints import render, survey
    from skyrl_train.checkpoints.verify import more_faults, strange

    if args.gpus is not None and args.gpus < 1:
        raise UsageError(f"--gpus is {args.gpus}; wanted 1 or more")
    found = survey(root, critic=args.critic or None)
    chosen = tuple(one for one in found.saved if step in (None, one.step))
    if not chosen:
        raise UsageError(f"{root}: no checkpoint; wanted {'global_step_N' if step is None else f'global_step_{step}'}")
    faults = {one.step: tuple(more_faults(one, ranks=args.gpus, deep=args.deep)) for one in chosen}
    for name in strange(chosen):
        sys.stderr.write(
            f"skyrl-train checkpoints: {name}; wanted torch and verl alone: load it only if you trust it\n"
        )
    if args.format == "json":
        _say(render.as_json(found, faults, only=step))
    else:
        _say(
            line
            for one in chosen
            for line in (
                render.shown(one),
                *(f"       {fault}" for fault in dict.fromkeys((*one.faults, *faults[one.step]))),
            )
        )
    return FAULTY if any(not one.complete or faults[one.step] for one in chosen) else 0


def _prune(args: argparse.Namespace, root: str, step: int | None) -> int:
    from skyrl_train.checkpoints import prune, render

    if step is not None:
        raise UsageError(f"{args.path} is one checkpoint; wanted the directory that holds them: {root}")
    pruned = prune(root, keep=args.keep, torn=args.torn, apply=args.apply)
    as_json = args.format == "json"
    _say(render.pruned_json(pruned, apply=args.apply) if as_json else render.pruned_lines(pruned, apply=args.apply))
    return 0


def _merge(args: argparse.Namespace, root: str, step: int | None) -> int:
    import json

    from skyrl_train.checkpoints import last_good, look
    from skyrl_train.checkpoints.merge import merge
    from skyrl_train.contracts.checkpoints.layout import directory_of

    if not 0 < args.limit <= MOST_S:
        raise UsageError(f"--limit is {args.limit:g}; wanted seconds, at most a week")
    saved = last_good(root) if step is None else look(os.path.join(root, directory_of(step)))
    if saved is None:
        raise UsageError(f"{root}: no complete checkpoint to merge")
    python = args.python or os.environ.get("UV_PYTHON") or sys.executable
    role = "critic" if args.critic else "actor"
    made = merge(saved, args.to, role=role, dtype=args.dtype, python=python, limit_s=args.limit)
    _say(json.dumps(made._asdict()) + "\n" if args.format == "json" else (f"{made.what}: {made.to}",))
    return 0


def _say(said: str | Iterator[str] | tuple[str, ...]) -> None:
    sys.stdout.write(said if isinstance(said, str) else "".join(f"{line}\n" for line in said))
