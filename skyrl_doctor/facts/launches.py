"""Failures of earlier launches that a node may have caused."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_train.node.hostlist import NotAHostlist, expand

NODE_FAMILIES = ("GPU", "ENV", "POD")
"""Families of failures that a node can cause."""
_NODE = re.compile(
    r"\bnode (?P<node>[A-Za-z0-9][\w.-]{0,62})(?:: | ended without a (?:word|report)| has (?:been silent|not reported))"
)
_BY_SLURM = frozenset({"NODE_FAIL", "BOOT_FAIL"})
LAUNCHES_DIR, JOB_DIR = ".skyrl_jobs", "SKYRL_JOB_DIR"
MOST_LAUNCHES = 30
SACCT = ("sacct", "--allocations", "--noheader", "--parsable2", "--starttime=now-14days", "--state=NODE_FAIL,BOOT_FAIL")
SACCT_FORMAT = "--format=JobID,State,NodeList"
SACCT_LIMIT_S = 1.0
"""Slurm's accounting is optional here: its server may be slow or missing."""


@record
class Failure:
    """A launch or job that failed on a node. `what` is the failure."""

    node: str
    job: str
    what: str


@record
class Launches:
    """`asked` lists the sources that were read. `failures` has each node and launch once."""

    asked: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()

    def of(self, node: str) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if short(failure.node) == short(node))

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple({short(failure.node): failure.node for failure in reversed(self.failures)}.values())[::-1]


def short(node: str) -> str:
    """The node's name without its domain: Slurm and the host may differ in it."""
    return node.partition(".")[0].lower()


def gate_failures(text: str, job: str) -> Iterator[Failure]:
    """Failures in a gate_*.json. One for a single node has outcomes; one for several nodes has lists."""
    report = _object(text)
    nodes = report.get("nodes")
    if isinstance(nodes, dict):
        yield from (Failure(str(node), job, "failed the gate") for node in _list(nodes.get("failing")))
        yield from (Failure(str(node), job, "did not answer the gate") for node in _list(nodes.get("unknown")))
        return
    for outcome in _list(report.get("outcomes")):
        if not isinstance(outcome, dict) or outcome.get("status") != "fail" or outcome.get("severity") != "error":
            continue
        if str(outcome.get("id", "")).startswith(NODE_FAMILIES) and isinstance(report.get("host"), str):
            yield Failure(report["host"], job, str(outcome["id"]))


def end_failures(text: str, job: str) -> Iterator[Failure]:
    """Failures in a trainer_ended.json whose reason names nodes."""
    reason = _object(text).get("reason")
    if isinstance(reason, str):
        yield from (Failure(node, job, "ended the run") for node in dict.fromkeys(_NODE.findall(reason)))


def event_failures(text: str, verdict: str, job: str) -> Iterator[Failure]:
    """Root causes in the watch's events.jsonl, on the node in the verdict."""
    node = _object(verdict).get("node")
    for line in text.splitlines() if isinstance(node, str) else ():
        event = _object(line)
        id_ = str(event.get("id", ""))
        if event.get("event") == "finding" and event.get("root") and id_.startswith(NODE_FAMILIES):
            yield Failure(str(node), job, id_)


def sacct_failures(text: str) -> Iterator[Failure]:
    """Node failures in the output of `sacct --parsable2 --noheader --format=JobID,State,NodeList`."""
    for line in text.splitlines():
        words = line.split("|")
        if len(words) != 3 or words[1].partition(" ")[0] not in _BY_SLURM:
            continue
        try:
            yield from (Failure(node, f"job {words[0]}", words[1]) for node in expand(words[2]) if " " not in node)
        except NotAHostlist:
            continue


def first_failures(failures: Iterator[Failure]) -> tuple[Failure, ...]:
    """The first failure of each node and launch."""
    found: dict[tuple[str, str], Failure] = {}
    for failure in failures:
        found.setdefault((short(failure.node), failure.job), failure)
    return tuple(found.values())


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


@probe(limit_s=6.0)
def launches(machine: Machine, environ: Environ, host: Host) -> Launches:
    """Reads the job directories of earlier launches, and Slurm's accounting if it answers."""
    job_dir = environ.get(JOB_DIR, "").rstrip("/")
    root = os.path.dirname(job_dir) if job_dir else os.path.join(host.cwd, LAUNCHES_DIR)
    names = unless_absent(lambda: machine.listdir(root))
    if names is None:
        raise NotApplicable(f"no earlier launches in {root}")
    own = os.path.basename(job_dir)
    earlier = sorted(name for name in names if name.endswith("_launch") and name != own)[-MOST_LAUNCHES:]
    asked = machine.run((*SACCT, SACCT_FORMAT), limit_s=SACCT_LIMIT_S)
    failures = [
        *(found for name in earlier for found in _launch_failures(machine, f"{root}/{name}", name)),
        *sacct_failures(asked.out if asked.ok else ""),
    ]
    return Launches((root, "sacct") if asked.ok else (root,), first_failures(iter(failures)))


def _launch_failures(machine: Machine, path: str, name: str) -> Iterator[Failure]:
    yield from gate_failures(_text(machine, f"{path}/gate_trainer.json"), name)
    yield from end_failures(_text(machine, f"{path}/trainer_ended.json"), name)
    events = _text(machine, f"{path}/events.jsonl")
    if events:
        yield from event_failures(events, _text(machine, f"{path}/verdict.json"), name)


def _text(machine: Machine, path: str) -> str:
    """The file's text; empty if it cannot be read."""
    try:
        return machine.read(path)
    except CouldNotLook:
        return ""
