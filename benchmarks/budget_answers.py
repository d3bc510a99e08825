"""Counts the launch scripts of public repositories that `budget` answers: `python -m benchmarks.budget_answers CHECKOUT…`.

A file that the doctor does not recognise as a training run is not counted. Refusals are sorted by their cause.
"""

import argparse
import contextlib
import io
import json
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.field.files import Checkout, files_of
from benchmarks.field.sandbox import ENVIRON
from skyrl_doctor.cli.app import dispatch

NO_ESTIMATE = "no estimate: "
ANSWERED = (0, 1)
SHOWN = 200


@dataclass(frozen=True)
class Answer:
    """The result of `budget` for one file. `refused` is the reason why there is no estimate."""

    file: str
    status: int
    refused: str = ""

    @property
    def is_answered(self) -> bool:
        return self.status in ANSWERED

    @property
    def is_run(self) -> bool:
        """Whether the doctor recognised a training run."""
        return self.is_answered or self.refused.startswith(NO_ESTIMATE)


def answer(gpu: str, root: Path, path: str) -> Answer:
    """`budget PATH --gpu GPU`, run in this process from the top of the checkout."""
    out, err = io.StringIO(), io.StringIO()
    os.chdir(root)
    os.environ.clear()
    os.environ.update(ENVIRON, PWD=str(root))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = dispatch(["budget", path, "--gpu", gpu, "--format", "json"])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 2
        except Exception:  # noqa: BLE001 - a crash is a row of the table
            return Answer(path, -1, f"crash: {traceback.format_exc(limit=-1)}")
    if status in ANSWERED:
        json.loads(out.getvalue())
        return Answer(path, status)
    return Answer(path, status, err.getvalue().strip().removeprefix("skyrl-doctor budget: "))


def cause(refused: str) -> str:
    """The reason without its names and numbers."""
    first = refused.partition("\n")[0]
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|\S*/\S+", "…", first))[:SHOWN]


def report(answers: Sequence[Answer], *, verbose: bool) -> Iterator[str]:
    runs = [each for each in answers if each.is_run or each.status == -1]
    answered = sum(each.is_answered for each in runs)
    fits = sum(each.status == 0 for each in runs)
    share = f"{answered} answered ({answered / max(1, len(runs)):.0%})"
    yield f"{len(answers)} files, {len(runs)} training runs, {share}, of which {fits} fit"
    refused = Counter(cause(each.refused) for each in runs if not each.is_answered)
    yield from (f"{count:5} {why}" for why, count in refused.most_common())
    if verbose:
        yield from (f"{each.file}: {each.refused or ('fits', 'does not fit')[each.status]}" for each in answers)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budget_answers", description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--gpu", default="H100", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="list each file with its reason")
    args = parser.parse_args()
    total: list[Answer] = []
    for root in args.checkouts:
        paths = [file.path for file in files_of(Checkout(root.absolute()))]
        with ProcessPoolExecutor(max_workers=args.jobs) as pool:
            found = list(pool.map(partial(answer, args.gpu, root.absolute()), paths, chunksize=4))
        total += found
        sys.stdout.write(f"== {root.name}\n" + "".join(f"{line}\n" for line in report(found, verbose=args.verbose)))
    sys.stdout.write("== all\n" + "".join(f"{line}\n" for line in report(total, verbose=False)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
