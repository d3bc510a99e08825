"""The counts of a run, a line a step, for whoever watches it."""

import json
import os

from skyrl_train.agent.metrics import Counts
from skyrl_train.launch.names import COUNTS
from skyrl_train.payloads import from_json, to_json


def line(counts: Counts) -> str:
    """One line of JSON: a record of its own, whatever is added to it later."""
    return json.dumps(json.loads(to_json(counts)), separators=(",", ":")) + "\n"


def append(job_dir: str, counts: Counts) -> None:
    """In one write, so that a reader sees whole lines. OSError where there is no room."""
    path = os.path.join(job_dir, COUNTS)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, line(counts).encode())
    finally:
        os.close(descriptor)


def read(text: str) -> Counts:
    """What `line` wrote. ValueError for a line that was cut, or is another version's."""
    return from_json(Counts, text)
