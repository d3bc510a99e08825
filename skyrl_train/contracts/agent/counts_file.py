"""The counts of a run, a line a step, for whoever watches it.

A trainer appends a `line` to the file COUNTS (skyrl_train.contracts.job_files) of the job's directory after each step.
"""

import json

from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.payloads import from_json, to_json


def line(counts: Counts) -> str:
    """One line of JSON: a record of its own, whatever is added to it later."""
    return json.dumps(json.loads(to_json(counts)), separators=(",", ":")) + "\n"


def read(text: str) -> Counts:
    """What `line` wrote. ValueError for a line that was cut, or is another version's."""
    return from_json(Counts, text)
