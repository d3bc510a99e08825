"""`skyrl-train data oracle`: scores gold and empty patches of a sample, and writes a report for the doctor (AGT021)."""

import argparse
import functools
import os
import random
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from skyrl_train.agent.sandboxes.podman import Image, podman_sandbox
from skyrl_train.cli.asynchronous import run_async
from skyrl_train.contracts.agent.ports import Sandbox
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.rewards.oracle import SUFFIX, OracleReport, TaskVerdict, Verdict, report_json
from skyrl_train.contracts.screen import print_line, print_lines
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.demo.choose import choose
from skyrl_train.demo.rows import TASKS, r2e_row
from skyrl_train.demo.seed import write_seed
from skyrl_train.demo.task import DemoTask
from skyrl_train.rewards.trial import tried
from skyrl_train.tasks.datasets import rows_of
from skyrl_train.tasks.gold import gold_of
from skyrl_train.tasks.sinks import replaced

DEMO = "demo"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help=f"the published data set with its gold patches, or {DEMO}")
    parser.add_argument(
        "--data", type=Path, help="the converted file that training reads; the report is written next to it"
    )
    parser.add_argument("--sample", type=int, default=8, help="number of rows to try, chosen at random (default: 8)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choice (default: 0)")
    parser.add_argument("--python", help="the Python inside the images that runs the tools (default: python3)")


def oracle(args: argparse.Namespace) -> int:
    """Exit status 0 if every task is good, 1 if one is broken, 3 if none is broken but one could not be scored."""
    if args.sample < 1:
        raise UsageError(f"--sample is {args.sample}; expected 1 or more")
    data = args.data or (None if args.source == DEMO else Path(args.source))
    if data is not None and not data.is_file():
        raise UsageError(f"{data} is not a file; pass --data with the file that training reads")
    verdicts = run_async(_demo(args) if args.source == DEMO else _rows(args))
    for one in verdicts:
        print_line(f"{one.verdict:<11} {one.task_id}{': ' + one.detail if one.detail else ''}")
    if data is not None:
        report = OracleReport(bytes=data.stat().st_size, tasks=tuple(verdicts))
        path = data.with_name(data.name + SUFFIX)
        with replaced(path) as part:
            part.write_text(report_json(report), encoding="utf-8")
        print_line(f"report: {path}")
    found = {one.verdict for one in verdicts}
    return 1 if Verdict.BROKEN in found else 3 if Verdict.UNSCORABLE in found else 0


async def _rows(args: argparse.Namespace) -> Sequence[TaskVerdict]:
    """The verdicts, one task at a time: a sandbox holds a whole repository, and the sample is small."""
    verdicts = []
    for row, task in _sample(args.source, args.sample, args.seed):
        base = Image(task.image.removeprefix("docker.io/library/"), args.python or "python3")
        verdicts.append(await tried(task, gold_of(row), functools.partial(_in_image, base)))
    return verdicts


@asynccontextmanager
async def _in_image(base: Image) -> AsyncIterator[Sandbox]:
    with tempfile.TemporaryDirectory(prefix="skyrl-seed-") as seed:
        async with podman_sandbox(Path(seed), base=base, environ=os.environ) as sandbox:
            yield sandbox


def _sample(source: str, size: int, seed: int) -> list[tuple[object, TaskRow]]:
    """A random sample of the good rows, each equally likely, in one pass over the file."""
    chosen: list[tuple[object, TaskRow]] = []
    pick = random.Random(seed)  # noqa: S311 -- a sample, no secret
    seen = 0
    for number, row in enumerate(rows_of(source), start=1):
        task = read_row(row, number)
        if not isinstance(task, TaskRow):
            continue
        seen += 1
        index = len(chosen) if seen <= size else pick.randrange(seen)
        if index < size:
            chosen[index : index + 1] = [(row, task)]
    if not chosen:
        raise UsageError(f"{source} has no row that is a task; run `skyrl-train data validate`")
    return chosen


async def _demo(args: argparse.Namespace) -> Sequence[TaskVerdict]:
    place = await choose("auto", image=None, python=args.python, environ=os.environ)
    print_lines(place.notes)

    def opened(demo: DemoTask) -> AbstractAsyncContextManager[Sandbox]:
        @asynccontextmanager
        async def seeded() -> AsyncIterator[Sandbox]:
            with tempfile.TemporaryDirectory(prefix="skyrl-seed-") as seed:
                async with place.make(write_seed(demo, Path(seed), python=place.python)) as sandbox:
                    yield sandbox

        return seeded()

    verdicts = []
    for demo in TASKS[: args.sample]:
        row = r2e_row(demo)
        task = read_row(row, 1)
        assert isinstance(task, TaskRow)
        verdicts.append(await tried(task, gold_of(row), functools.partial(opened, demo)))
    return verdicts
