"""`skyrl-train data inspect` and `validate`."""

import argparse
import collections
import itertools
import sys
from collections.abc import Iterator

from skyrl_train.agent.show import printable
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.tasks.rows import BadRow, TaskRow
from skyrl_train.tasks.converted import fault_of_row, is_converted
from skyrl_train.tasks.datasets import rows_of
from skyrl_train.tasks.sources import tasks_of

SHOWN = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a data set, as published or converted: .parquet, .jsonl or .json")


def inspect(args: argparse.Namespace) -> int:
    """Counts, and a few reasons; 0 whatever is in the file."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    longest = 0
    for row in _rows(args.source):
        if isinstance(row, BadRow):
            counts["bad"][row.why.split(":")[0]] += 1
            continue
        source, repo, image, size = row
        counts["source"][source] += 1
        counts["repository"][repo] += 1
        counts["image"][image] += 1
        longest = max(longest, size)
    lines = [f"{sum(counts['source'].values())} good rows, {sum(counts['bad'].values())} bad"]
    lines.append(f"{len(counts['image'])} images; the longest problem or prompt has {longest} characters")
    for what in ("source", "repository", "bad"):
        lines += [f"{count:8}  {what} {printable(name)}" for name, count in counts[what].most_common(SHOWN)]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def validate(args: argparse.Namespace) -> int:
    """1 where any row is bad."""
    good = bad = 0
    for row in _rows(args.source):
        if not isinstance(row, BadRow):
            good += 1
            continue
        bad += 1
        if bad <= SHOWN:
            sys.stdout.write(f"row {row.number}: {printable(row.why)}\n")
    if not good and not bad:
        raise UsageError(f"{args.source}: no rows")
    more = f", of which {SHOWN} are shown" if bad > SHOWN else ""
    sys.stdout.write(f"{good} good rows, {bad} bad{more}\n")
    return 1 if bad else 0


def _rows(source: str) -> Iterator[tuple[str, str, str, int] | BadRow]:
    """Source, repository, image and length of each good row. The first row says which columns the file has."""
    first = next(iter(itertools.islice(_first(source), 1)), None)
    if not is_converted(first):
        for task in tasks_of(source):
            yield _summary(task) if isinstance(task, TaskRow) else task
        return
    for number, row in enumerate(rows_of(source), start=1):
        fault = fault_of_row(row) if isinstance(row, dict) else f"a row is a {type(row).__name__}, wanted an object"
        if fault or not isinstance(row, dict):
            yield BadRow(number, fault or "")
            continue
        extra, prompt = row["extra_info"], row["prompt"]
        size = sum(len(message["content"]) for message in prompt)
        yield row["data_source"], str(extra.get("repo") or "unnamed"), extra["image"], size


def _first(source: str) -> Iterator[object]:
    try:
        yield from rows_of(source)
    except UsageError as error:
        if "no JSON" not in str(error):  # a broken line is one bad row
            raise


def _summary(task: TaskRow) -> tuple[str, str, str, int]:
    return task.source, task.repo, task.image, len(task.problem)
