"""`skyrl-train data inspect` and `validate`."""

import argparse
import collections

from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.screen import print_line, print_lines
from skyrl_train.contracts.tasks.rows import BadRow
from skyrl_train.tasks.checked import checked_rows

MOST_LISTED = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a data set, published or converted: .parquet, .jsonl or .json")


def inspect(args: argparse.Namespace) -> int:
    """Prints counts and the most frequent faults. Always exit status 0."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    longest = 0
    for row in checked_rows(args.source):
        if isinstance(row, BadRow):
            counts["bad"][row.why.split(":")[0]] += 1
            continue
        counts["source"][row.source] += 1
        counts["repository"][row.repo] += 1
        counts["image"][row.image] += 1
        longest = max(longest, row.letters)
    lines = [f"{amount(sum(counts['source'].values()), 'good row')}, {sum(counts['bad'].values())} bad"]
    lines.append(f"{amount(len(counts['image']), 'image')}; longest problem or prompt: {longest} characters")
    for what in ("source", "repository", "bad"):
        lines += [f"{count:8}  {what} {name}" for name, count in counts[what].most_common(MOST_LISTED)]
    print_lines(lines)
    return 0


def validate(args: argparse.Namespace) -> int:
    """Prints the bad rows. Exit status 1 if there is one."""
    good = bad = 0
    for row in checked_rows(args.source):
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
