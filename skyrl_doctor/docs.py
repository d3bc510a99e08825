"""python -m skyrl_doctor.docs [--check]: writes the pages generated from the catalogue, the checks and the schemas.

docs/checks/<ID>.md           the page of a known failure, from the docstring of its file
docs/failures.md              the catalogue: the check, the fix and the test of each failure
docs/finding.svg              the picture of the README: findings on a terminal
docs/run-config.md            every setting of a run
docs/run_config.schema.json   the JSON Schema of a run's settings
skyrl_train/config/read_by.json   the checks that read each setting
docs/schema-1.json            the JSON Schema of the report
docs/schema-diagnose-1.json   the JSON Schema of a diagnosis
"""

import argparse
import dataclasses
import io
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from skyrl_doctor import reference
from skyrl_doctor.catalogue import Entry, When, catalogue
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.model import Outcome
from skyrl_doctor.core.registry import discover
from skyrl_doctor.examination import Options, run
from skyrl_doctor.found_by import finders, found_by, page
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.page import parse
from skyrl_train.config import schema as run_schema

ROOT = Path(__file__).resolve().parent.parent
OURS = "checks"
BROKEN = str(ROOT / "examples/verl/grpo_broken.sh")
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_CODE = re.compile(r"(`[^`\n]*`)")


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
        **{_page_path(entry): f"{failure_page(entry, built.get(entry.id))}\n" for entry in catalogue().entries},
        "docs/failures.md": "\n".join(failures(built)) + "\n",
        "docs/finding.svg": picture(),
        "docs/run-config.md": "\n".join(reference.page(found)) + "\n",
        "docs/run_config.schema.json": run_schema.text(),
        "skyrl_train/config/read_by.json": reference.read_by_text(found),
        "docs/schema-1.json": schema.decode("utf-8"),
        "docs/schema-diagnose-1.json": diagnosis.decode("utf-8"),
    }


def picture() -> str:
    """The findings of an example as a terminal shows them. Nothing in the picture is fetched from elsewhere."""
    from rich.console import Console

    from skyrl_doctor.report.lines import lines
    from skyrl_doctor.report.terminal import styled

    machine = LocalMachine()
    options = Options(targets=(BROKEN,), selected=("CFG001", "CFG002"), structure_only=True)
    report = dataclasses.replace(
        run(machine, machine, options),
        host="login1",
        roles=("login",),
        duration_s=0.31,
        targets=("train.sh",),
        target_names=(),
    )
    report = dataclasses.replace(report, outcomes=tuple(map(_named_as_script, report.outcomes)))
    console = Console(record=True, width=96, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in lines(report, 96):
        console.print(styled(line), soft_wrap=True)
    svg = console.export_svg(title="skyrl-doctor preflight train.sh", unique_id="finding")
    return _FONT.sub("", svg)


def _named_as_script(outcome: Outcome) -> Outcome:
    """The outcome with the example's file named as a user's script."""
    found = tuple(
        dataclasses.replace(one, location=dataclasses.replace(one.location, file="train.sh")) if one.location else one
        for one in outcome.findings
    )
    return dataclasses.replace(outcome, findings=found)


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


def failure_page(entry: Entry, check: Check | None) -> str:
    """The page of one failure."""
    parsed = parse(page(entry, check))
    parts = [f"# {entry.id} {entry.slug}", _safe(parsed.summary)]
    for heading, body in parsed.sections:
        parts += [f"## {heading}", _safe(body)]
    rows = [f"| {name} | {value} |" for name, value in _facts(entry, check)]
    return "\n\n".join([*parts, "\n".join(["| | |", "|---|---|", *rows])])


def _facts(entry: Entry, check: Check | None) -> Iterator[tuple[str, str]]:
    yield "Appears", ", ".join(when.words for when in entry.when)
    if check is None:
        yield "Found by", ", ".join(f"`{finder}`" for finder in finders(entry))
        yield "Described in", f"`{_path(entry.module)}`"
        return
    yield "Roles", ", ".join(sorted(check.roles))
    yield "Check", f"`{source_of(check)}`"
    yield "Fixed by", fix_of(check)
    yield "Tests", f"`{test_of(check)}`"


def failures(built: Mapping[str, Check]) -> Iterator[str]:
    """The lines of docs/failures.md."""
    known = catalogue()
    yield "# Known failures"
    yield ""
    yield f"{sum(entry.id in built for entry in known.entries)} of {len(known.entries)} known failures have a check that finds them before a job."
    yield "Failures in **bold** ended real runs of the first users."
    yield f"The column *When*: {', '.join(f'{when.value} {when.words}' for when in When)}."
    for code, title in known.families.items():
        yield from ("", f"## {code}: {title}", "", "| Id | Failure | When | Check | Fixed by | Tests |")
        yield "|---|---|---|---|---|---|"
        yield from (_row(entry, built.get(entry.id)) for entry in known.entries if entry.family == code)


def source_of(check: Check) -> str:
    return _path(check.module)


def test_of(check: Check) -> str:
    """The mirrored test file: checks/gpu/x.py -> tests/checks/gpu/test_x.py."""
    source = PurePosixPath(source_of(check))
    return str("tests" / source.with_name(f"test_{source.name}"))


def fix_of(check: Check) -> str:
    """The file that fixes the failure, or what the operator does."""
    kind, _, why = check.fix.partition(":")
    return f"the operator: {_safe(why.strip())}" if kind == "operator" else f"`{check.fix}`"


def _row(entry: Entry, check: Check | None) -> str:
    slug = f"**{entry.slug}**" if entry.core else entry.slug
    when = "".join(entry.when)
    link = f"[{entry.id}](checks/{entry.id}.md)"
    if check is None:
        return f"| {link} | {slug} | {when} | {found_by(entry)} | | |"
    return f"| {link} | {slug} | {when} | `{source_of(check)}` | {fix_of(check)} | `{test_of(check)}` |"


def _page_path(entry: Entry) -> str:
    return f"docs/checks/{entry.id}.md"


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _safe(markdown: str) -> str:
    """Escapes `<` and `|` outside of code, so that <function=…> is not read as a tag."""
    return "\n".join(
        line if line.startswith("    ") else "".join(_escape(part) for part in _CODE.split(line))
        for line in markdown.split("\n")
    )


def _escape(part: str) -> str:
    return part if part.startswith("`") else part.replace("<", "&lt;").replace("|", "&#124;")


if __name__ == "__main__":
    sys.exit(main())
