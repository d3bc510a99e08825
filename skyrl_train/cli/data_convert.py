"""`skyrl-train data convert`: one pass over the file, one batch in memory at a time."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.screen import print_line, print_note
from skyrl_train.contracts.tasks.rows import BadRow
from skyrl_train.tasks.convert import verl_row
from skyrl_train.tasks.datasets import LINES, PARQUET
from skyrl_train.tasks.sinks import blamed, replaced, sink
from skyrl_train.tasks.sources import tasks_of

PROGRESS_S = 2.0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="the data set: .parquet, .jsonl or .json with an object on each line")
    parser.add_argument("target", type=Path, help="the file to write for verl: .parquet or .jsonl")
    parser.add_argument(
        "--rejects", type=Path, help="file for the dropped rows and the reasons (default: TARGET.rejected.jsonl)"
    )
    parser.add_argument(
        "--images", type=Path, help="file for the images that the rows need (default: TARGET.images.txt)"
    )
    parser.add_argument("--limit", type=int, help="stop after this many good rows")


def convert(args: argparse.Namespace) -> int:
    target: Path = args.target
    if target.suffix not in (*LINES, PARQUET):
        raise UsageError(f"{target}: unknown file type; expected a name that ends in {', '.join((*LINES, PARQUET))}")
    if args.limit is not None and args.limit < 1:
        raise UsageError(f"--limit is {args.limit}; expected 1 or more")
    rejects = args.rejects or target.with_name(target.name + ".rejected.jsonl")
    listed = args.images or target.with_name(target.name + ".images.txt")
    _refuse_to_overwrite(Path(args.source), target, rejects, listed)
    good, bad, images = _converted(args.source, target, rejects, args.limit)
    with replaced(listed) as part:
        part.write_text("".join(f"{image}\n" for image in images), encoding="utf-8")
    dropped = f"; dropped {bad} (reasons: {rejects})" if bad else ""
    print_line(f"{amount(good, 'row')} written to {target}{dropped}; {amount(len(images), 'image')} listed in {listed}")
    return 0


def _refuse_to_overwrite(source: Path, target: Path, rejects: Path, listed: Path) -> None:
    """Refuses a file that is another one of these files, a device or a pipe: writing replaces what is there."""
    taken = {source.resolve(): "source"}
    for name, path in (("target", target), ("rejects", rejects), ("images", listed)):
        label = path if name == "target" else f"--{name} {path}"
        if path.exists() and not path.is_file():
            raise UsageError(f"{label} exists and is not a regular file; name another file")
        other = taken.setdefault(path.resolve(), name)
        if other != name:
            raise UsageError(f"{label} is the same file as the {other}; name another file")


def _converted(source: str, target: Path, rejects: Path, limit: int | None) -> tuple[int, int, list[str]]:
    """The number of rows written, the number dropped, and the images in order of first use."""
    images: dict[str, None] = {}
    good = bad = 0
    first = ""
    with ExitStack() as files:
        write = files.enter_context(sink(target))
        reject = files.enter_context(_rejects(rejects))
        report_progress = _progress()
        for task in tasks_of(source):
            if isinstance(task, BadRow):
                bad += 1
                first = first or f"row {task.number}: {task.why}"
                reject(task)
            else:
                write(verl_row(task, good))
                images.setdefault(task.image)
                good += 1
            report_progress(good, bad)
            if good == limit:
                break
        if not good:
            raise UsageError(
                f"{source}: none of its {bad} rows can be used ({first}); {rejects} has all reasons"
                if bad
                else f"{source} has no rows"
            )
    return good, bad, list(images)


@contextmanager
def _rejects(path: Path) -> Iterator[Callable[[BadRow], None]]:
    """A function that writes a dropped row as a line of JSON; the file is made with the first such row."""
    with blamed(path):
        path.unlink(missing_ok=True)
    with ExitStack() as opened:
        file: IO[str] | None = None

        def reject(row: BadRow) -> None:
            nonlocal file
            with blamed(path):
                if file is None:
                    file = opened.enter_context(path.open("x", encoding="utf-8", errors="replace"))
                file.write(json.dumps({"row": row.number, "why": row.why}, ensure_ascii=False) + "\n")

        yield reject


def _progress() -> Callable[[int, int], None]:
    """A function that writes a line of progress to standard error every few seconds."""
    last = time.monotonic()

    def report_progress(good: int, bad: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS_S:
            last = time.monotonic()
            print_note(f"{amount(good + bad, 'row')} read, {bad} dropped")
            sys.stderr.flush()

    return report_progress
