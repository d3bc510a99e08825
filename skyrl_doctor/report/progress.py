"""Shows on a terminal which probes are still running.

It redraws only when the engine reports progress and starts no thread: on a node at its process limit,
a spinner thread could end the doctor.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from skyrl_doctor.core.engine import Observer, silent
from skyrl_doctor.report.plain import plain
from skyrl_train.contracts.screen import unguarded

_NAMED = 4


@contextlib.contextmanager
def progress(
    *, enabled: bool, stream: TextIO | None = None, environ: Mapping[str, str] = os.environ
) -> Iterator[Observer]:
    """An observer that draws on stderr if that is a terminal, else one that does nothing."""
    out = sys.stderr if stream is None else stream
    if not enabled or not out.isatty() or environ.get("TERM") == "dumb":
        yield silent
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=unguarded(out))
    with Live(
        console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as live:

        def observe(pending: Sequence[str], done: int) -> None:
            live.update(Text(progress_text(pending, done), no_wrap=True, overflow="ellipsis"), refresh=True)

        yield observe


def progress_text(pending: Sequence[str], done: int) -> str:
    """The progress line: the number of finished checks and the names of running probes."""
    finished = f"{done} check{'' if done == 1 else 's'} done"
    if not pending:
        return finished
    more = len(pending) - _NAMED
    names = ", ".join(pending[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return plain(f"{finished}, waiting for {names}")
