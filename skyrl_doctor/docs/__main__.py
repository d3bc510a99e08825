"""python -m skyrl_doctor.docs [--check]: writes the pages generated from the catalogue, the checks and the schemas.

docs/checks/<ID>.md           the page of a known failure, from the docstring of its file
docs/failures.md              the catalogue: a sentence for each failure
docs/site/failure-words.json   the words by which the catalogue's filter finds failures
docs/*.svg                    the pictures: findings on a terminal, the layers, the way of an examination
docs/run-config.md            every setting of a run
docs/run_config.schema.json   the JSON Schema of a run's settings
skyrl_train/config/read_by.json   the checks that read each setting
skyrl_train/config/named_as.json  its names in verl, SkyRL and prime-rl
docs/schema-1.json            the JSON Schema of the report
docs/schema-diagnose-1.json   the JSON Schema of a diagnosis
"""

import argparse
import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skyrl_doctor import reference
from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.cli.listing import rows
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.registry import discover
from skyrl_doctor.docs import pictures
from skyrl_doctor.docs.failure_words import failure_words
from skyrl_doctor.docs.failures import failure_pages, failures
from skyrl_train.config import schema as run_schema

ROOT = Path(__file__).resolve().parents[2]
OURS = "checks"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m skyrl_doctor.docs", description="Writes the generated pages.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    parser.add_argument("--root", type=Path, default=ROOT, help="source tree (default: the one of this module)")
    args = parser.parse_args(argv)
    expected = pages(our_checks())
    stale = sorted(stale_pages(args.root, expected))
    if not args.check:
        write(args.root, expected, stale)
    for path in stale:
        sys.stderr.write(f"{path}: {'out of date' if args.check else 'written' if path in expected else 'removed'}\n")
    return 1 if args.check and stale else 0


def our_checks() -> tuple[Check, ...]:
    """The checks of this project. Checks of other packages have pages of their own."""
    return tuple(check for check in discover().checks if check.module.partition(".")[0] == OURS)


def pages(checks: Sequence[Check]) -> dict[str, str]:
    """The text of every generated file, by path below the root."""
    built = {check.id: check for check in checks}
    schema = pkgutil.get_data("skyrl_doctor.report", "schema-1.json") or b""
    diagnosis = pkgutil.get_data("skyrl_doctor.logs", "schema-diagnose-1.json") or b""
    found = reference.read_by({entry.id: entry.module for entry in catalogue().entries}, checks)
    return {
        **failure_pages(built, found),
        "docs/failures.md": "\n".join(failures(built)) + "\n",
        "docs/site/failure-words.json": failure_words(rows(tuple(checks))),
        "docs/finding.svg": pictures.findings(ROOT),
        "docs/layers-doctor.svg": pictures.layers(ROOT, "skyrl_doctor"),
        "docs/layers-trainer.svg": pictures.layers(ROOT, "skyrl_train"),
        "docs/examination.svg": pictures.examination(checks),
        "docs/run-config.md": "\n".join(reference.page(found)) + "\n",
        "docs/run_config.schema.json": run_schema.text(),
        "skyrl_train/config/read_by.json": reference.json_text(found),
        "skyrl_train/config/named_as.json": reference.json_text(reference.names()),
        "docs/schema-1.json": schema.decode("utf-8"),
        "docs/schema-diagnose-1.json": diagnosis.decode("utf-8"),
    }


def stale_pages(root: Path, expected: Mapping[str, str]) -> Iterator[str]:
    """The paths of files that are missing, differ, or belong to a removed failure."""
    for path, text in expected.items():
        file = root / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            yield path
    there = (f"docs/checks/{file.name}" for file in (root / "docs/checks").glob("*.md"))
    yield from (path for path in there if path not in expected)


def write(root: Path, expected: Mapping[str, str], paths: Sequence[str]) -> None:
    for path in paths:
        file = root / path
        if path in expected:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(expected[path], encoding="utf-8")
        else:
            file.unlink()


if __name__ == "__main__":
    sys.exit(main())
