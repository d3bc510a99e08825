"""The pictures of the pages, drawn from the code: findings on a terminal, the layers, the way of an examination."""

import dataclasses
import io
import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.core.check import Check
from skyrl_doctor.core.model import Outcome
from skyrl_doctor.core.registry import discover
from skyrl_doctor.examination import Options, run
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.report.formats import FORMATS

BROKEN = "examples/verl/grpo_broken.sh"
WIDTH, ROW, GAP, BOX = 760, 34, 16, 8
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_STYLE = (
    "rect{fill:#f4f6f8;stroke:#57606a}text{font:13px sans-serif;fill:#1b1f24;text-anchor:middle}.n{font-size:11px;fill:#57606a}"
    "path{stroke:#57606a;fill:none;marker-end:url(#a)}marker path{fill:#57606a;marker-end:none}"
    "@media(prefers-color-scheme:dark){rect{fill:#1c2127;stroke:#8b949e}text{fill:#e6e9ed}.n{fill:#a3adb8}path{stroke:#8b949e}"
    "marker path{fill:#8b949e}}"
)
_ARROW = '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'


def findings(root: Path) -> str:
    """The findings of an example as a terminal shows them. Nothing in the picture is fetched from elsewhere."""
    from rich.console import Console

    from skyrl_doctor.report.lines import lines
    from skyrl_doctor.report.terminal import styled

    machine = LocalMachine()
    options = Options(targets=(str(root / BROKEN),), selected=("CFG001", "CFG002"), structure_only=True)
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


def layers(root: Path, package: str) -> str:
    """The folders of a package in the layers that import-linter holds it to: each imports only from below."""
    rules = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (found,) = [one["layers"] for one in rules if one.get("containers") == [package]]
    rows = [[name.strip() for name in re.split(r"[|:]", layer)] for layer in found]
    title = f"The layers of {package}: each imports only from those below it"
    return _stacked(title, [[(name, "") for name in row] for row in rows])


def examination(checks: Sequence[Check]) -> str:
    """The way from a machine and a configuration to a report, with today's numbers."""
    registry = discover()
    families = Counter(check.id[:3] for check in checks)
    rows = [
        [("machine", "this one, or a recording"), ("targets", "run.toml, scripts, YAML, TOML")],
        [
            (f"{len(registry.probes)} probes", "each in a thread, with a time limit"),
            ("plan", "settings with their places"),
        ],
        [("facts", "frozen records, one a subject")],
        [
            (
                f"{len(checks)} checks",
                ", ".join(f"{code} {families[code]}" for code in catalogue().families if families[code]),
            )
        ],
        [("findings", "what, where, expected, fix")],
        [("waivers", "accepted until a date"), ("verdict", "pass, fail or unknown")],
        [("reports", ", ".join(FORMATS[1:]))],
    ]
    return _stacked("From a machine and a configuration to a report", rows)


def _stacked(title: str, rows: Sequence[Sequence[tuple[str, str]]]) -> str:
    """Rows of boxes with an arrow from each row to the next."""
    texts = [[(name, textwrap.wrap(note, 100 // len(row) + 10)) for name, note in row] for row in rows]
    heights = [ROW + 14 * max(len(notes) for _, notes in row) for row in texts]
    parts: list[str] = []
    top = BOX
    for row, height in zip(texts, heights, strict=True):
        parts += _row(row, top, height)
        top += height + GAP
        if len(parts) and row is not texts[-1]:
            parts.append(f'<path d="M{WIDTH // 2} {top - GAP}V{top - 2}"/>')
    size = top - GAP + BOX
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {size}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style><defs>{_ARROW}</defs>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _row(row: Sequence[tuple[str, list[str]]], top: int, height: int) -> Iterator[str]:
    width = (WIDTH - BOX * (len(row) + 1)) // len(row)
    for at, (name, notes) in enumerate(row):
        left = BOX + at * (width + BOX)
        middle = left + width // 2
        yield f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4"/>'
        yield f'<text x="{middle}" y="{top + 22}">{escape(name)}</text>'
        yield from (
            f'<text class="n" x="{middle}" y="{top + 38 + 14 * line}">{escape(note)}</text>'
            for line, note in enumerate(notes)
        )


def _named_as_script(outcome: Outcome) -> Outcome:
    """The outcome with the example's file named as a user's script."""
    found = tuple(
        dataclasses.replace(one, location=dataclasses.replace(one.location, file="train.sh")) if one.location else one
        for one in outcome.findings
    )
    return dataclasses.replace(outcome, findings=found)
