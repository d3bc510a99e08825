"""Preflight checks that can begin to fail while a job runs, run again in a child process."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.observations import Observation, Recheck

LIMIT_S = 40.0
CHECKS = ("GPU003", "POD004", "POD005")
"""A foreign process on the job's GPU; containers that outlive their job, on the runtime's node; Podman's locks. All only read."""
IN_SLURM = frozenset({"GPU003"})
"""Outside a Slurm job, the run's own processes cannot be distinguished from others."""


def rechecks(machine: Machine, now: float) -> Sequence[Observation]:
    inside = "SLURM_JOB_ID" in machine.environ()
    wanted = [id_ for id_ in CHECKS if inside or id_ not in IN_SLURM]
    argv = (sys.executable, "-m", "skyrl_doctor", "preflight", "--format", "json", "--deadline", "30")
    done = machine.run((*argv, "--select", ",".join(wanted)), limit_s=LIMIT_S)
    if done.rc not in (0, 1, 3):
        raise CouldNotLook(done.why)
    return tuple(parse_report(json.loads(done.out), now))


def parse_report(report: dict[str, Any], now: float) -> list[Recheck]:
    """The passed and failed checks. A check with status unknown gives no observation."""
    found: list[Recheck] = []
    for one in report["outcomes"]:
        if one["status"] == "pass":
            found.append(Recheck(at=now, id=one["id"], message=""))
        elif one["status"] == "fail":
            message = "; ".join(finding["message"] for finding in one["findings"])
            found.append(Recheck(at=now, id=one["id"], message=message, is_error=one["severity"] == "error"))
    return found
