"""The counts of a run, one line for each step, for the doctor's watch.

After each step the trainer appends a `line` to the file COUNTS (skyrl_train.contracts.job_files) in the job directory.
"""

import itertools
import json
from pathlib import Path

from skyrl_train.contracts import bounded
from skyrl_train.contracts.agent import outages
from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.job_files import COUNTS
from skyrl_train.contracts.payloads import from_json, to_json

MOST_STEPS = 100_000
LONGEST = 1 << 16


def line(counts: Counts) -> str:
    """The counts as one line of JSON."""
    return json.dumps(json.loads(to_json(counts)), separators=(",", ":")) + "\n"


def read(text: str) -> Counts:
    """The counts that `line` wrote. ValueError for a truncated line or one of another version."""
    return from_json(Counts, text)


def total(job_dir: str) -> Counts | None:
    """The counts of all steps in a job directory; None without the file. Invalid lines are left out."""
    run = Counts()
    try:
        for _, text in itertools.islice(bounded.lines(Path(job_dir, COUNTS), longest=LONGEST), MOST_STEPS):
            try:
                run += read(text or "")
            except (ValueError, RecursionError):  # a line that was cut, or of another version
                continue
    except OSError:
        return None
    return run


def survived_outages(job_dir: str) -> str:
    """The outages that the run of a job directory survived; empty if there are none, or no counts."""
    run = total(job_dir)
    return "" if run is None else outages.described(run.outages, run.outage_s, run.outage_causes)
