"""Runs the doctor on one of several nodes with the settings of that node, and removes what the settings made.

The training part makes them again: if the job were stopped in between, no process on this node would clean up.
"""

import os
import time
from collections.abc import Callable, Sequence

from skyrl_train.launch import leftovers, node_settings
from skyrl_train.launch.work import say
from skyrl_train.process import started

GRACE_S = 8.0
STEP_S = 0.1


def run(script: str, words: Sequence[str], stop_requested: Callable[[], bool]) -> int:
    """The doctor's exit status, or 1 if it was stopped."""
    before = dict(os.environ)
    try:
        return _run_doctor(words, stop_requested) if node_settings.apply(script, stop_requested) else 1
    finally:
        for trouble in leftovers.of_this_job(before):
            say(trouble)


def _run_doctor(words: Sequence[str], stop_requested: Callable[[], bool]) -> int:
    with started(words, grace_s=GRACE_S) as child:
        while child.poll() is None and not stop_requested():
            time.sleep(STEP_S)
    return child.status if child.status >= 0 else 1
