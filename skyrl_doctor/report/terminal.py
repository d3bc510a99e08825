"""The text report in colour, for a terminal. Quoted text is never parsed as rich's markup."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from skyrl_doctor.report.batch_lines import batch_lines
from skyrl_doctor.report.lines import MARGIN, USUAL_VIEW, Line, View, lines
from skyrl_doctor.report.model import Batch, Report
from skyrl_train.contracts.screen import columns, unguarded

if TYPE_CHECKING:
    from rich.text import Text

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


def show(
    report: Report | Batch,
    view: View = USUAL_VIEW,
    *,
    stream: TextIO | None = None,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Prints the report on a terminal, in colour unless the user turned colour off."""
    out = sys.stdout if stream is None else stream
    width = columns(out)
    laid_out = batch_lines(report, width, view) if isinstance(report, Batch) else lines(report, width, view)
    if not use_colour(environ):
        out.writelines(f"{line}\n" for line in laid_out)
        out.flush()
        return
    from rich.console import Console

    console = Console(file=unguarded(out), highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in laid_out:
        console.print(styled(line))


def use_colour(environ: Mapping[str, str]) -> bool:
    """Whether to print colours. https://no-color.org: a variable that is set and not empty turns them off."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def styled(line: Line) -> "Text":
    """The line with its label or text in colour, and a link (OSC 8) to the page of its failure."""
    from rich.text import Text

    full = str(line)
    end = min(MARGIN, len(full)) if line.label else len(full)
    styled = Text(full)
    if line.style:
        styled.stylize(STYLES[line.style], 0, end)
    if line.page:
        begin = MARGIN if line.label else 0
        styled.stylize(f"link {line.page}", begin, begin + len(line.text.partition(" ")[0]))
    return styled
