"""Reads what earlier launches left beside this one, and asks Slurm's accounting where there is one."""

import os
from collections.abc import Iterator

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.launches import Failure, Launches, of_end, of_events, of_gate, of_sacct, once
from skyrl_doctor.machine.base import Machine, unless_absent

ROOT, JOB_DIR = ".skyrl_jobs", "SKYRL_JOB_DIR"
MOST = 30
SACCT = ("sacct", "--allocations", "--noheader", "--parsable2", "--starttime=now-14days", "--state=NODE_FAIL,BOOT_FAIL")
FORMAT = "--format=JobID,State,NodeList"
SACCT_LIMIT_S = 1.0
"""Accounting is a welcome witness and no needed one: its server may be slow, or none."""


@probe(limit_s=6.0)
def launches(machine: Machine, environ: Environ, host: Host) -> Launches:
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
