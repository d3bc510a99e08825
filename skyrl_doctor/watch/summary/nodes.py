"""SLM002: the same node failed earlier jobs. They are the directories next to this one; each verdict names its node."""

import json
import os

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.launches import NODE_FAMILIES
from skyrl_doctor.watch.files import EVENTS
from skyrl_doctor.watch.sink.events import read
from skyrl_train.contracts import bounded

MOST_JOBS = 200


@record
class Before:
    """A job that failed on this node."""

    job: str
    id: str


def failed_before(job_dir: str, node: str) -> list[Before]:
    """Earlier jobs beside this one that ended with a failure of this node."""
    above, own = os.path.split(os.path.abspath(job_dir))
    try:
        names = sorted(name for name in os.listdir(above) if name != own)[-MOST_JOBS:]
    except OSError:
        return []
    found = []
    for name in names:
        if _node(os.path.join(above, name)) != node:
            continue
        roots = [
            one for one in read(os.path.join(above, name, EVENTS)) if one["event"] == "finding" and one.get("root")
        ]
        found += [Before(name, str(one["id"])) for one in roots[:1] if str(one.get("id", "")).startswith(NODE_FAMILIES)]
    return found


def _node(job_dir: str) -> str | None:
    try:
        return str(json.loads(bounded.read_text(os.path.join(job_dir, "verdict.json")))["node"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
