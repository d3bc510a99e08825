"""What earlier launches tell of the nodes they ran on: each failure that may be a node's, by node."""

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

OF_NODES = ("GPU", "ENV", "POD")
"""Families whose failures may be the node's and not the run's."""
_NODE = re.compile(r"\bnode (?P<node>[A-Za-z0-9][\w.-]{0,62})(?:: | ended without a word| has been silent)")
_BY_SLURM = frozenset({"NODE_FAIL", "BOOT_FAIL"})
ROOT, JOB_DIR = ".skyrl_jobs", "SKYRL_JOB_DIR"
MOST = 30
SACCT = ("sacct", "--allocations", "--noheader", "--parsable2", "--starttime=now-14days", "--state=NODE_FAIL,BOOT_FAIL")
FORMAT = "--format=JobID,State,NodeList"
SACCT_LIMIT_S = 1.0
"""Accounting is a welcome witness and no needed one: its server may be slow, or none."""


@record
class Failure:
    """A launch, or a job, that failed on this node, and how."""

    node: str
    job: str
    what: str


@record
class Launches:
    """`asked` says where was looked; `failures` each node and launch once."""

    asked: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()

    def of(self, node: str) -> tuple[Failure, ...]:
        return tuple(failure for failure in self.failures if short(failure.node) == short(node))

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple({short(failure.node): failure.node for failure in reversed(self.failures)}.values())[::-1]


def short(node: str) -> str:
    """Slurm's name and the host's own may differ by the domain."""
    return node.partition(".")[0].lower()


def of_gate(text: str, job: str) -> Iterator[Failure]:
    """A gate_*.json: of one node its own errors, of several the lists."""
    report = _object(text)
    nodes = report.get("nodes")
    if isinstance(nodes, dict):
        yield from (Failure(str(node), job, "failed the gate") for node in _list(nodes.get("failing")))
        yield from (Failure(str(node), job, "gave the gate no answer") for node in _list(nodes.get("unknown")))
        return
    for outcome in _list(report.get("outcomes")):
        if not isinstance(outcome, dict) or outcome.get("status") != "fail" or outcome.get("severity") != "error":
            continue
        if str(outcome.get("id", "")).startswith(OF_NODES) and isinstance(report.get("host"), str):
            yield Failure(report["host"], job, str(outcome["id"]))


def of_end(text: str, job: str) -> Iterator[Failure]:
    """A trainer_ended.json whose reason names nodes."""
    reason = _object(text).get("reason")
    if isinstance(reason, str):
        yield from (Failure(node, job, "ended the run") for node in dict.fromkeys(_NODE.findall(reason)))


def of_events(text: str, verdict: str, job: str) -> Iterator[Failure]:
    """An events.jsonl of the watch with the cause of the end, on the node of the verdict."""
    node = _object(verdict).get("node")
    for line in text.splitlines() if isinstance(node, str) else ():
        event = _object(line)
        id_ = str(event.get("id", ""))
        if event.get("event") == "finding" and event.get("root") and id_.startswith(OF_NODES):
            yield Failure(str(node), job, id_)


def of_sacct(text: str) -> Iterator[Failure]:
    """`sacct --parsable2 --noheader --format=JobID,State,NodeList`: what Slurm itself puts down to a node."""
    for line in text.splitlines():
        words = line.split("|")
        if len(words) != 3 or words[1].partition(" ")[0] not in _BY_SLURM:
            continue
        try:
            yield from (Failure(node, f"job {words[0]}", words[1]) for node in expand(words[2]) if " " not in node)
        except NotAHostlist:
            continue


def once(failures: Iterator[Failure]) -> tuple[Failure, ...]:
    """Each node and launch once, with the first that was said of them."""
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
    """Reads what earlier launches left beside this one, and asks Slurm's accounting where there is one."""
    job_dir = environ.get(JOB_DIR, "").rstrip("/")
    root = os.path.dirname(job_dir) if job_dir else os.path.join(host.cwd, ROOT)
    names = unless_absent(lambda: machine.listdir(root))
    if names is None:
        raise NotApplicable(f"no earlier launches in {root}")
    own = os.path.basename(job_dir)
    earlier = sorted(name for name in names if name.endswith("_launch") and name != own)[-MOST:]
    asked = machine.run((*SACCT, FORMAT), limit_s=SACCT_LIMIT_S)
    told = [
        *(found for name in earlier for found in _of(machine, f"{root}/{name}", name)),
        *of_sacct(asked.out if asked.ok else ""),
    ]
    return Launches((root, "sacct") if asked.ok else (root,), once(iter(told)))


def _of(machine: Machine, path: str, name: str) -> Iterator[Failure]:
    yield from of_gate(_text(machine, f"{path}/gate_trainer.json"), name)
    yield from of_end(_text(machine, f"{path}/trainer_ended.json"), name)
    events = _text(machine, f"{path}/events.jsonl")
    if events:
        yield from of_events(events, _text(machine, f"{path}/verdict.json"), name)


def _text(machine: Machine, path: str) -> str:
    """Nothing where it is not there, or no more than a damaged one tells."""
    try:
        return machine.read(path)
    except CouldNotLook:
        return ""
