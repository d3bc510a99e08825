"""Shows on a terminal which probes are still open."""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.engine import Observer, silent


@contextlib.contextmanager
def progress(*, enabled: bool) -> Iterator[Observer]:
    """An observer that draws on a terminal's stderr, and one that looks away everywhere else."""
    if not enabled or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield silent
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("looking") as status:

        def observe(pending: Sequence[str], done: int) -> None:
            status.update(f"{done} checks done" + (f", waiting for {', '.join(pending)}" if pending else ""))

        yield observe
