"""Shows on a terminal which probes are still open.

It draws when it is told something, and starts no thread of its own: on a node without processes to spare,
a spinner must not be what ends the doctor.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from skyrl_doctor.core.engine import Observer, silent
from skyrl_doctor.report.plain import plain

_NAMED = 4


@contextlib.contextmanager
def progress(
    *, enabled: bool, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ
) -> Iterator[Observer]:
    """An observer that draws on a terminal's stderr, and one that looks away everywhere else."""
    out = sys.stderr if stream is None else stream
    if not enabled or not out.isatty() or environ.get("TERM") == "dumb":
        yield silent
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=out)
    with Live(
        console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as live:

        def observe(pending: Sequence[str], done: int) -> None:
            live.update(Text(said(pending, done), no_wrap=True, overflow="ellipsis"), refresh=True)

        yield observe


def said(pending: Sequence[str], done: int) -> str:
    """What stands on the line of progress."""
    if not pending:
        return f"{done} checks done"
    more = len(pending) - _NAMED
    names = ", ".join(pending[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return plain(f"{done} checks done, waiting for {names}")
