"""`skyrl-train demo`: runs three tasks from prompt to reward on this machine, in seconds."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from skyrl_train.agent.journal import append
from skyrl_train.agent.show import render_transcript, reward_line
from skyrl_train.cli.asynchronous import run_async
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.contracts.screen import print_lines
from skyrl_train.demo.choose import choose
from skyrl_train.demo.play import play
from skyrl_train.demo.rows import TASKS
from skyrl_train.demo.task import DemoTask
from skyrl_train.tasks.sinks import blamed

DONE, NOT_SOLVED = 0, 1
MODEL = "model: prepared replies, no GPU; each character counts as a token"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sandbox",
        choices=("auto", "podman", "directory"),
        default="auto",
        help="where commands run; auto uses Podman if it works here (default: auto)",
    )
    parser.add_argument("--image", metavar="REF", help="a local image with bash and a python3 that has pytest")
    parser.add_argument("--python", metavar="PATH", help="the Python with pytest that runs the tasks' tests")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=Path,
        help="also write the transcripts to this new file, for `skyrl-train show`",
    )


def run(args: argparse.Namespace) -> int:
    if args.image and args.sandbox == "directory":
        raise UsageError("--image needs Podman, but --sandbox directory runs without it; pass only one of them")
    if args.output is not None and args.output.exists():
        raise UsageError(f"{args.output} exists already; name a new file")
    transcripts = run_async(_played(args))
    sys.stdout.write(_table(transcripts))
    return DONE if all(_solved(transcript) for transcript in transcripts) else NOT_SOLVED


async def _played(args: argparse.Namespace) -> Sequence[Transcript]:
    """Runs all tasks at once and prints each when it ends."""
    chosen = await choose(args.sandbox, image=args.image, python=args.python, environ=os.environ)
    print_lines((*chosen.notes, MODEL))
    sys.stdout.flush()
    transcripts: list[Transcript] = []
    if args.output is not None:
        with blamed(args.output):
            args.output.touch(exist_ok=False)

    async def one(task: DemoTask) -> None:
        transcript = await play(task, chosen.make, python=chosen.python)
        sys.stdout.write("\n" + render_transcript(transcript))
        sys.stdout.flush()
        if args.output is not None:
            with blamed(args.output):
                append(args.output, transcript)
        transcripts.append(transcript)

    try:
        async with asyncio.TaskGroup() as group:  # ends its tasks before asyncio.run ends its helpers
            for task in TASKS:
                group.create_task(one(task))
    except ExceptionGroup as failed:  # a closed pipe or a full disk: all tasks fail with the same error
        raise failed.exceptions[0] from None
    return transcripts


def _solved(transcript: Transcript) -> bool:
    return isinstance(transcript.score, Scored) and transcript.score.reward == 1.0


def _table(transcripts: Sequence[Transcript]) -> str:
    ordered = sorted(transcripts, key=lambda one: one.task_id)
    rows = [f"{one.task_id:<16}{len(one.steps):>6}  {one.finish:<22}{reward_line(one)}" for one in ordered]
    return "\n".join(["", f"{'task':<16}{'turns':>6}  {'end':<22}reward", *rows, ""])
