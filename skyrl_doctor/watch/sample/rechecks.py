"""Checks of preflight that can begin to fail while a job runs, asked again in a process of their own."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.observations import Observation, Recheck

LIMIT_S = 40.0
CHECKS = ("GPU003", "POD004", "POD005")
"""A stranger on the job's GPU; containers that outlive their job, on the runtime's node; Podman's locks. All only read."""
IN_SLURM = frozenset({"GPU003"})
"""Outside of a Slurm job nobody can tell the run's own processes from a stranger's."""


def rechecks(machine: Machine, now: float) -> Sequence[Observation]:
    inside = "SLURM_JOB_ID" in machine.environ()
    wanted = [id_ for id_ in CHECKS if inside or id_ not in IN_SLURM]
    argv = (sys.executable, "-m", "skyrl_doctor", "preflight", "--format", "json", "--deadline", "30")
    done = machine.run((*argv, "--select", ",".join(wanted)), limit_s=LIMIT_S)
    if done.rc not in (0, 1, 3):
        raise CouldNotLook(done.why)
    return tuple(told(json.loads(done.out), now))


def told(report: dict[str, Any], now: float) -> list[Recheck]:
    """Those that passed and those that failed; one that could not look says neither."""
    found: list[Recheck] = []
    for one in report["outcomes"]:
        if one["status"] == "pass":
            found.append(Recheck(at=now, id=one["id"], message=""))
        elif one["status"] == "fail":
            message = "; ".join(finding["message"] for finding in one["findings"])
            found.append(Recheck(at=now, id=one["id"], message=message, is_error=one["severity"] == "error"))
    return found
