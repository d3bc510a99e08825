"""One look at everything: for a cron job, and for whoever wants to know how a run stands now."""

import time
from collections.abc import Callable

from skyrl_doctor.watch.loop import Watch

LIMIT_S = 20.0


def once(watch: Watch, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """All that the logs hold, and one answer of each sampler, or its time is up."""
    watch.turn()
    until = time.monotonic() + LIMIT_S
    while (watch.behind or watch.asking) and time.monotonic() < until:
        sleep(0.02)
        watch.turn()
