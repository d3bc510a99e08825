"""One pass over all logs and samplers: for cron, or to see the state of a run now."""

import time
from collections.abc import Callable

from skyrl_doctor.watch.loop import Watch

LIMIT_S = 20.0


def once(watch: Watch, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Reads all logs, and waits for one answer of each sampler, within a time limit."""
    watch.turn()
    until = time.monotonic() + LIMIT_S
    while (watch.has_backlog or watch.asking) and time.monotonic() < until:
        sleep(0.02)
        watch.turn()
