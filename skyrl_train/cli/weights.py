"""skyrl-train weights: find out which model or checkpoint a model server runs.

For servers of any trainer (verl, prime-rl, SkyRL) that are vLLM's. Each model scores the same fixed text as the server.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.contracts.screen import fitted, limit, print_line, print_lines, print_note

if TYPE_CHECKING:
    from skyrl_train.evaluation.weights import Compared

OTHER = 1


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", help="URL of a vLLM server; its key in VLLM_API_KEY")
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="directory of a model, or checkpoint (…/global_step_N): the one expected, then others to compare",
    )
    parser.add_argument("--served-name", metavar="NAME", help="name of the model at the server, if it serves several")
    parser.add_argument("--device", default="cpu", help="where the models are scored, e.g. cuda:0 (default: cpu)")
    parser.add_argument(
        "--python", default=sys.executable, help="Python with torch and transformers (default: this one)"
    )
    parser.add_argument(
        "--limit", type=float, default=1800, metavar="S", help="time limit of each model in seconds (default: 1800)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    try:
        return _run(args)
    except UsageError:
        raise
    except TrainError as error:
        print_note(f"skyrl-train weights: {error}")
        return OTHER


def _run(args: argparse.Namespace) -> int:
    import json

    from skyrl_train.cli.asynchronous import run_async
    from skyrl_train.evaluation.completions import KEY_VARIABLE, CompletionsServer
    from skyrl_train.evaluation.served import model_directory
    from skyrl_train.evaluation.weights import Scored, compared, scored_by, verdict

    models: list[tuple[str, Scored]] = []
    for name in args.models:
        with tempfile.TemporaryDirectory(prefix="skyrl-weights-") as made:
            directory = model_directory(name, Path(made), python=args.python, limit_s=args.limit)
            models.append((name, scored_by(directory, python=args.python, device=args.device, limit_s=args.limit)))
    ids = models[0][1].ids
    if any(scored.ids != ids for _, scored in models):
        raise UsageError(f"{args.models[0]} and another model do not have the same tokenizer")

    async def asked() -> list[float]:
        async with CompletionsServer(args.url, key=os.environ.get(KEY_VARIABLE, "")) as server:
            await server.model(args.served_name)
            return await server.scored(ids)

    found = compared(models, run_async(asked()))
    runs, sentence = verdict(found)
    if args.format == "json":
        rows = [{"model": one.model, "difference_nats": one.difference} for one in found]
        print_line(json.dumps({"runs_first": runs, "models": rows, "verdict": sentence}))
    else:
        print_found(found, sentence)
    return 0 if runs else OTHER


def print_found(found: "Sequence[Compared]", sentence: str) -> None:
    """How far each model is from what the server runs, and the verdict."""
    print_lines(f"{one.difference:9.5f} nats  {one.model}" for one in found)
    print_lines(fitted([sentence], limit()))
