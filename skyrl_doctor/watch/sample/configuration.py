"""Checks of the job's configuration, in a child process whose memory is returned at its end."""

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
"""Checks whose failure explains a symptom of the run."""


def configuration(job_dir: str, named: Sequence[str]) -> Look:
    """Observes the failed checks of the configuration."""

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        targets = targets_of(job_dir, named)
        if not targets:
            raise NotApplicable("the job directory has no configuration, and --config names none")
        argv = (sys.executable, "-m", "skyrl_doctor", "preflight", "--structure-only", "--format", "json")
        done = machine.run((*argv, "--select", ",".join(CHECKS), *targets), limit_s=LIMIT_S)
        if done.rc not in (0, 1, 3):
            raise CouldNotLook(done.why)
        return tuple(faults(json.loads(done.out), now))

    return look


def targets_of(job_dir: str, named: Sequence[str]) -> tuple[str, ...]:
    """The targets that the user names; without any, the copy in the job directory."""
    return tuple(named) or _copies(job_dir)


def faults(report: dict[str, Any], now: float) -> list[Fault]:
    """The failures in a preflight report."""
    failed = [one for one in report["outcomes"] if one["status"] == "fail"]
    wanted = [(one, finding) for one in failed for finding in one["findings"]]
    return [
        _fault(one, finding, now)
        for one, finding in wanted
        if finding["severity"] == "error" or one["id"] == stops.ID  # only a warning while the agent makes calls
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
    """The copies that launch writes: one TOML, or a dev.conf with a task's YAML."""
    found = sorted(glob.glob(f"{glob.escape(job_dir)}/*.toml"))[:1]
    return tuple(found or sorted(glob.glob(f"{glob.escape(job_dir)}/*.conf"))[:1])
