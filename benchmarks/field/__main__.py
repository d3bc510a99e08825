"""Sweeps checkouts of public repositories: `python -m benchmarks.field CHECKOUT… --python PYTHON`.

PYTHON is an interpreter with hydra-core (and prime-rl's configuration packages). The sandbox needs root, setpriv and
unshare. `--truth DIR` keeps what bash and the programs say, so that the next sweep needs only the doctor.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from benchmarks.field.doctor import opinion, our_commands
from benchmarks.field.files import Checkout, File, files_of
from benchmarks.field.table import Row, details, table
from benchmarks.field.truth import Truth, truths
from benchmarks.field.verdicts import false_pass, judged
from benchmarks.field.words import Words, compared


def main() -> int:
    args = _arguments()
    if args.truth:
        args.truth.mkdir(parents=True, exist_ok=True)
    labels = json.loads(args.labels.read_text()) if args.labels else {}
    rows = []
    for checkout in _checkouts(args.checkouts, args.mount):
        files = [file for file in files_of(checkout) if _chosen(file, args)]
        store = args.truth / f"{checkout.root.name}.json" if args.truth else None
        known = truths(checkout, files, args.python, args.other_version, store)
        with ProcessPoolExecutor(max_workers=args.jobs) as pool:
            work = partial(_row, checkout, labels)
            rows += list(pool.map(work, files, [known[file.id] for file in files], chunksize=4))
    sys.stdout.write(table(rows))
    if args.verbose:
        sys.stdout.write(details(rows))
    if args.json:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field", description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--python", required=True, help="interpreter with hydra-core and pydantic")
    parser.add_argument(
        "--mount",
        action="append",
        default=[],
        metavar="INNER=OUTER:FOLDER",
        help="checkout INNER lies in FOLDER of checkout OUTER, as verl-recipe does in verl",
    )
    parser.add_argument("--other-version", type=Path, metavar="DIR", help="unpacked wheel that the doctor judges by")
    parser.add_argument("--truth", type=Path, metavar="DIR", help="keep the truth in this folder")
    parser.add_argument("--labels", type=Path, metavar="FILE", help="JSON: what a reader decided")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every row")
    parser.add_argument(
        "--part", choices=("open", "hidden", "all"), default="all", help="open leaves out the hidden third of the files"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only files whose path has this text")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="list each error, false pass and word difference")
    return parser.parse_args()


def _chosen(file: File, args: argparse.Namespace) -> bool:
    return args.only in file.path and args.part in ("all", "hidden" if file.is_hidden else "open")


def _checkouts(roots: Sequence[Path], mounts: Sequence[str]) -> Iterator[Checkout]:
    mounted = dict(mount.split("=", 1) for mount in mounts)
    for root in roots:
        outer, _, folder = mounted.get(root.name, "").partition(":")
        yield Checkout(root.absolute(), root.absolute().parent / outer if outer else None, folder)


def _row(checkout: Checkout, labels: dict[str, str], file: File, truth: Truth) -> Row:
    path = checkout.root / file.path
    ours = opinion(path, checkout.root)
    errors = tuple(judged(file.id, error, truth, labels) for error in ours.errors)
    words = Words()
    if file.is_shell:
        text = path.read_text(encoding="utf-8", errors="replace")
        words = compared(truth.launches, our_commands(text, path, checkout.outer or checkout.root) or [])
    return Row(file, ours, truth, errors, false_pass(ours, truth), words)


if __name__ == "__main__":
    sys.exit(main())
