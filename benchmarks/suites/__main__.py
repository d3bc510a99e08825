"""`python -m benchmarks.suites [NAME=CHECKOUT…]` prints a table of the judges. The status is 1 if a case fails.

A judge that needs a checkout runs if one is given: `swe-bench=DIR`, `swe-smith=DIR`, `picklescan=DIR`, `openhands=DIR`,
`gpu-exporter=DIR`, `gpud=DIR`, `slurm=DIR`, `xunit-plugin=DIR`, `prime-rl=DIR`. Nothing of a checkout is kept.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.suites.cases import Case, Judge, Row, row_of
from benchmarks.suites.judges import JUDGES

HEAD = ("judge", "of", "version", "cases", "pass", "deliberate", "fail", "21 November")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suites", description=__doc__)
    parser.add_argument("checkouts", nargs="*", metavar="NAME=CHECKOUT")
    parser.add_argument("--only", action="append", default=[], metavar="JUDGE")
    parser.add_argument("--jobs", type=int, default=1, help="judges that are asked at the same time")
    args = parser.parse_args(words)
    checkouts = dict(each.split("=", 1) for each in args.checkouts)
    if unknown := set(checkouts) - {judge.checkout for judge in JUDGES}:
        parser.error(f"unknown checkout: {', '.join(sorted(unknown))}")
    chosen = [judge for judge in JUDGES if not args.only or judge.name in args.only]
    asked = [judge for judge in chosen if not judge.checkout or judge.checkout in checkouts]
    with ProcessPoolExecutor(args.jobs) as pool:  # those with a checkout first: they wait most
        begun = {
            judge: pool.submit(_row, judge, checkouts) for judge in sorted(asked, key=lambda one: not one.checkout)
        }
        rows = [begun[judge].result() for judge in asked]
    for line in table(rows):
        print(line)
    for row in rows:
        for case in row.different:
            print(f"\ndeliberate: {row.judge.name}: {case.name}\n  {case.documented}")
        for case in row.failed[:12]:
            print(
                f"\nFAIL {row.judge.name}: {case.name}\n  ours     {case.ours!r:.300}\n  expected {case.expected!r:.300}"
            )
    return 1 if any(row.failed or not row.cases for row in rows) else 0


def _row(judge: Judge, checkouts: Mapping[str, str]) -> Row:
    folder = Path(checkouts.get(judge.checkout, ".")).resolve()
    version = _commit(folder) if judge.checkout else judge.version
    begin = time.monotonic()
    try:
        row = row_of(judge, folder, version)
        counts = f"{row.cases} cases, {len(row.different)} deliberate, {len(row.failed)} fail"
        print(f"{judge.name}: {counts}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
        return row
    except (OSError, RuntimeError, ImportError, subprocess.SubprocessError) as error:
        print(f"{judge.name}: did not run: {error}", file=sys.stderr, flush=True)
        return Row(judge, version, 1, 0, (), (Case("the judge did not run", str(error), ""),))


def _commit(folder: Path) -> str:
    words = ("git", "-C", str(folder), "log", "-1", "--format=%cs")
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.strip() or "checkout"


def table(rows: list[Row]) -> list[str]:
    """The table in Markdown."""
    cells = [HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def _cells(row: Row) -> tuple[str, ...]:
    counts = (row.cases, row.passed, len(row.different), len(row.failed))
    return (row.judge.name, row.judge.of, row.version, *map(str, counts), row.judge.before)


if __name__ == "__main__":
    sys.exit(main())
