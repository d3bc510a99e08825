"""The counts of a run, one line for each step, for the doctor's watch.

After each step the trainer appends a `line` to the file COUNTS (skyrl_train.contracts.job_files) in the job directory.
"""

import json

from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.payloads import from_json, to_json


def line(counts: Counts) -> str:
    """The counts as one line of JSON."""
    return json.dumps(json.loads(to_json(counts)), separators=(",", ":")) + "\n"


def read(text: str) -> Counts:
    """The counts that `line` wrote. ValueError for a truncated line or one of another version."""
    return from_json(Counts, text)
