"""Why a job was stopped by a signal: a user's `skyrl-train stop`, scancel, preemption, the time limit or a failed node.

Slurm writes a notice into the log of a job's batch step before it sends SIGTERM. `skyrl-train stop` leaves a file.
"""

import json
import os
import re
from collections.abc import Callable

from skyrl_train.contracts import bounded
from skyrl_train.contracts.typed import FormatError
from skyrl_train.launch import directory, restarts, slurm
from skyrl_train.launch.role import Role

FILE = "stop_request.json"
SCANCEL = "cancelled with scancel"
REPLACED = "the requeued trainer needs a runtime that lasts longer"
_CAUSES = {
    "": SCANCEL,
    "TIME LIMIT": "the job hit its time limit",
    "PREEMPTION": "Slurm preempted the job",
    "JOB REQUEUE": "Slurm requeued the job",
    "NODE FAILURE": "a node of the job failed",
}
_STATES = {
    "TIMEOUT": _CAUSES["TIME LIMIT"],
    "PREEMPTED": _CAUSES["PREEMPTION"],
    "NODE_FAIL": _CAUSES["NODE FAILURE"],
    "CANCELLED": SCANCEL,
}
_NOTICE = re.compile(
    rb"\*\*\* (?:JOB|STEP) (?P<job>\d{1,18})\S{0,20} ON \S{1,400} CANCELLED AT \S{1,40}(?: DUE [Tt][Oo] (?P<why>[A-Z][A-Za-z ]{0,39})[^*\n]{0,80})? \*\*\*"
)
_TAIL_BYTES = 1 << 16


def write_request(job_dir: str, reason: str, job_ids: tuple[str, ...]) -> None:
    """Records that a user or the other job stops these jobs, before they are cancelled."""
    directory.write(job_dir, FILE, json.dumps({"reason": reason, "jobs": list(job_ids)}) + "\n")


def is_replaced(job_dir: str, runtime: str) -> bool:
    """Whether the trainer ended this runtime job because its next turn needs another one."""
    return _request(job_dir, runtime) == REPLACED


def requested(job_dir: str, role: Role) -> str:
    """The reason of the request that stops the job of this role; empty if there is none."""
    return _request(job_dir, directory.read_jobs(job_dir).get(role))


def withdraw_request(job_dir: str) -> None:
    """Removes the record, because nothing was cancelled."""
    directory.forget(job_dir, FILE)


def log_size(job_dir: str, role: Role, job_id: str) -> int:
    """The size of the job's log. A requeued job appends to the log of its earlier turns."""
    try:
        return os.stat(os.path.join(job_dir, directory.log(role, job_id, "err"))).st_size
    except OSError:
        return 0


def stop_cause(
    job_dir: str,
    role: Role,
    job_id: str,
    log_start: int,
    state: Callable[[str], slurm.JobState] = restarts.quick_state,
) -> str:
    """The cause in words; empty if nothing tells it. Slurm is asked only if its notice is missing."""
    request = requested(job_dir, role)
    if request or not job_id:
        return request
    noticed = _notice(os.path.join(job_dir, directory.log(role, job_id, "err")), job_id, log_start)
    if noticed:
        return noticed
    answer = state(job_id)
    return _CAUSES["TIME LIMIT"] if restarts.has_timed_out(answer) else _STATES.get(answer.state, "")


def _request(job_dir: str, recorded: str | None) -> str:
    """The reason of a request that names this job as jobs.json does."""
    found = directory.read_object(os.path.join(job_dir, FILE))
    try:
        return found.text("reason") if found is not None and recorded in found.texts("jobs") else ""
    except FormatError:
        return ""


def _notice(log: str, job_id: str, start: int) -> str:
    try:
        text = bounded.read_end(log, start=start, most_bytes=_TAIL_BYTES)
    except OSError:
        return ""
    found = [match for match in _NOTICE.finditer(text) if match["job"] == job_id.encode()]
    if not found:
        return ""
    why = (found[-1]["why"] or b"").decode().upper().strip()
    return _CAUSES.get(why, f"Slurm stopped the job: {why.lower()}")
