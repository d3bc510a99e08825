"""The checks of the configuration that a job was started with, in a process of its own: memory goes back at its end."""

import glob
import json
import sys
from collections.abc import Sequence
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.observations import Fault, Observation
from skyrl_doctor.watch.rules import refusals, stops
from skyrl_doctor.watch.sample.base import Look

LIMIT_S = 30.0
CHECKS = (*sorted(refusals.IDS), stops.ID)
"""Those whose failure is the cause once its consequence is seen."""


def configuration(job_dir: str, named: Sequence[str]) -> Look:
    """`named` are targets as preflight takes them; without one, the copy that lies in the job's directory."""

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        targets = tuple(named) or _copies(job_dir)
        if not targets:
            raise NotApplicable("no configuration is known")
        argv = (sys.executable, "-m", "skyrl_doctor", "preflight", "--structure-only", "--format", "json")
        done = machine.run((*argv, "--select", ",".join(CHECKS), *targets), limit_s=LIMIT_S)
        if done.rc not in (0, 1, 3):
            raise CouldNotLook(done.why)
        return tuple(faults(json.loads(done.out), now))

    return look


def faults(report: dict[str, Any], now: float) -> list[Fault]:
    """The failures of a report of preflight."""
    failed = [one for one in report["outcomes"] if one["status"] == "fail"]
    wanted = [(one, finding) for one in failed for finding in one["findings"]]
    return [
        _fault(one, finding, now)
        for one, finding in wanted
        if finding["severity"] == "error" or one["id"] == stops.ID  # a warning only, as long as the agent makes calls
    ]


def _fault(outcome: dict[str, Any], finding: dict[str, Any], now: float) -> Fault:
    location = finding["location"] or {}
    return Fault(
        at=now,
        id=outcome["id"],
        slug=outcome["slug"],
        message=finding["message"],
        file=str(location.get("file") or ""),
        line=location.get("line"),
    )


def _copies(job_dir: str) -> tuple[str, ...]:
    """launch leaves one TOML, or dev.conf with a task's YAML."""
    found = sorted(glob.glob(f"{glob.escape(job_dir)}/*.toml"))[:1]
    return tuple(found or sorted(glob.glob(f"{glob.escape(job_dir)}/*.conf"))[:1])
