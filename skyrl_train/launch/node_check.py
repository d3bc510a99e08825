"""The doctor's look at one of several nodes: with the settings of that node, which go again with the look.

The part that trains makes them anew: in between the job may be told to end, and then nobody on this node hears of it.
"""

import os
import time
from collections.abc import Callable, Sequence

from skyrl_train.launch import leftovers, node_settings
from skyrl_train.launch.work import say
from skyrl_train.process import started

GRACE_S = 8.0
STEP_S = 0.1


def run(script: str, words: Sequence[str], told_to_end: Callable[[], bool]) -> int:
    """The doctor's exit status; 1 where it did not come to its end."""
    before = dict(os.environ)
    try:
        return _looked(words, told_to_end) if node_settings.take(script, told_to_end) else 1
    finally:
        for trouble in leftovers.of_this_job(before):
            say(trouble)


def _looked(words: Sequence[str], told_to_end: Callable[[], bool]) -> int:
    with started(words, grace_s=GRACE_S) as child:
        while child.poll() is None and not told_to_end():
            time.sleep(STEP_S)
    return child.status if child.status >= 0 else 1
