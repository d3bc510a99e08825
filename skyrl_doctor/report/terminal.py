"""The text report in colour, for a screen. Foreign text is never read as rich's markup."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from skyrl_doctor.report import text
from skyrl_doctor.report.lines import MARGIN, Line, lines
from skyrl_doctor.report.model import Report

if TYPE_CHECKING:
    from rich.text import Text

WIDEST = 120
NARROWEST = 60
STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "fail": "bold red",
    "unknown": "bold magenta",
    "skip": "dim",
    "pass": "green",
    "note": "cyan",
    "place": "cyan",
    "command": "bold",
}


def show(report: Report, *, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Prints the report on a terminal, in colour unless the user wants none."""
    out = sys.stdout if stream is None else stream
    if not colour_wanted(environ):
        out.write(text.render(report))
        out.flush()
        return
    from rich.console import Console

    console = Console(file=out, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in lines(report, max(NARROWEST, min(console.width, WIDEST))):
        console.print(_styled(line))


def colour_wanted(environ: Mapping[str, str]) -> bool:
    """https://no-color.org: set and not empty means no colour. A dumb terminal has none."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def _styled(line: Line) -> "Text":
    from rich.text import Text

    whole = str(line)
    end = min(MARGIN, len(whole)) if line.label else len(whole)
    styled = Text(whole)
    if line.look:
        styled.stylize(STYLES[line.look], 0, end)
    return styled
