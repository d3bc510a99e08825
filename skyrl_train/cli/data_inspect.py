"""`skyrl-train data inspect` and `validate`."""

import argparse
import collections
import itertools
from collections.abc import Iterator

from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.screen import print_line, print_lines
from skyrl_train.contracts.tasks.rows import BadRow, TaskRow
from skyrl_train.tasks.converted import fault_of_row, is_converted
from skyrl_train.tasks.datasets import rows_of
from skyrl_train.tasks.sources import tasks_of

MOST_LISTED = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a data set, published or converted: .parquet, .jsonl or .json")


def inspect(args: argparse.Namespace) -> int:
    """Prints counts and the most frequent faults. Always exit status 0."""
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
    lines = [f"{amount(sum(counts['source'].values()), 'good row')}, {sum(counts['bad'].values())} bad"]
    lines.append(f"{amount(len(counts['image']), 'image')}; longest problem or prompt: {longest} characters")
    for what in ("source", "repository", "bad"):
        lines += [f"{count:8}  {what} {name}" for name, count in counts[what].most_common(MOST_LISTED)]
    print_lines(lines)
    return 0


def validate(args: argparse.Namespace) -> int:
    """Prints the bad rows. Exit status 1 if there is one."""
    good = bad = 0
    for row in _rows(args.source):
        if not isinstance(row, BadRow):
            good += 1
            continue
        bad += 1
        if bad <= MOST_LISTED:
            print_line(f"row {row.number}: {row.why}")
    if not good and not bad:
        raise UsageError(f"{args.source} has no rows")
    more = f"; only the first {MOST_LISTED} are listed" if bad > MOST_LISTED else ""
    print_line(f"{amount(good, 'good row')}, {bad} bad{more}")
    return 1 if bad else 0


def _rows(source: str) -> Iterator[tuple[str, str, str, int] | BadRow]:
    """Source, repository, image and length of each good row. The first row decides which columns the file has."""
    first = next(iter(itertools.islice(_first(source), 1)), None)
    if not is_converted(first):
        for task in tasks_of(source):
            yield _summary(task) if isinstance(task, TaskRow) else task
        return
    for number, row in enumerate(rows_of(source), start=1):
        fault = fault_of_row(row) if isinstance(row, dict) else f"a row is a {type(row).__name__}; expected an object"
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
        if "not valid JSON" not in str(error):  # a broken line is one bad row
            raise


def _summary(task: TaskRow) -> tuple[str, str, str, int]:
    return task.source, task.repo, task.image, len(task.problem)
