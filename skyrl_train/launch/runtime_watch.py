"""Whether the other job is there, and still there: the runtime that the trainer needs, the trainer that it serves."""

import os
import urllib.error
import urllib.request
from collections.abc import Callable

from skyrl_train.contracts import verdict
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import directory, slurm
from skyrl_train.launch.role import Role
from skyrl_train.procfs import lives

PROBE_S = 3.0
SLURM_EVERY_S = 30.0
TRAINER_ENDED = "the trainer has ended"
ALIVE = frozenset(
    {"PENDING", "RUNNING", "CONFIGURING", "SUSPENDED", "COMPLETING", "REQUEUED", "REQUEUE_HOLD", "RESIZING"}
)
ASK_LIMIT_S = 5.0
PATIENCE_S = 15.0
"""A busy server may be late; a dead one stays dead."""


def soon(job_id: str) -> slurm.State:
    """What Slurm tells of a job. A job that waits for the answer hears no signal meanwhile."""
    return slurm.state(job_id, limit_s=ASK_LIMIT_S)


def asked(url: str) -> bool:
    """Whether anything answers there. An answer that refuses is one."""
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=PROBE_S):  # noqa: S310 -- http(s) only, by directory.runtime_url
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False


def why_not_ready(job_dir: str, over: bool, timeout_s: float) -> str | None:  # noqa: FBT001
    """Why the runtime will never be ready; None while it may, and nothing once it is."""
    ended = directory.read_ended(job_dir, Role.RUNTIME)
    if ended is not None:
        return f"the runtime job ended before it was ready: {ended.why}"
    try:
        if directory.runtime_url(job_dir) is not None:
            return ""
    except UsageError as error:
        return str(error)
    return f"the runtime was not ready within {timeout_s:g} s (slurm.ready_timeout_s)" if over else None


def gone(job_dir: str, role: Role, state: Callable[[str], slurm.State] = soon) -> str:
    """Why a job that tells nothing will never tell more: killed, or ended before it could. Nothing while it lives."""
    job_id = directory.read_jobs(job_dir).get(role, "")
    if not job_id.isdigit():
        pid = job_id.partition(":")[2]
        return f"the {role} process {pid} is gone" if pid and not lives(int(pid)) else ""
    try:
        told = state(job_id).state
    except slurm.SlurmError:
        return ""  # a controller that does not answer says nothing of the job
    return f"the {role} job {job_id} is {told or 'no longer known to Slurm'}" if told not in ALIVE else ""


def is_queued(job_dir: str, role: Role, state: Callable[[str], slurm.State] = soon) -> bool:
    """Whether Slurm has not started the job yet."""
    job_id = directory.read_jobs(job_dir).get(role, "")
    try:
        return job_id.isdigit() and state(job_id).state in ("PENDING", "CONFIGURING")
    except slurm.SlurmError:
        return False


class Partner:
    """Follows the trainer; says when the runtime has nobody left to serve. A killed one tells nothing: Slurm does."""

    def __init__(self, job_dir: str, clock: Callable[[], float], state: Callable[[str], slurm.State] = soon) -> None:
        self._job_dir, self._clock, self._state = job_dir, clock, state
        self._asked = clock()

    def lost(self) -> str:
        """The reason, or nothing while the trainer is to come or runs."""
        if directory.read_ended(self._job_dir, Role.TRAINER) is not None:
            return TRAINER_ENDED
        if self._clock() - self._asked < SLURM_EVERY_S:
            return ""
        self._asked = self._clock()
        return gone(self._job_dir, Role.TRAINER, self._state)


class Pulse:
    """Follows a runtime that was ready; says why the trainer must stop."""

    def __init__(self, job_dir: str, url: str, clock: Callable[[], float], ask: Callable[[str], bool] = asked) -> None:
        self._job_dir, self._url, self._clock, self._ask = job_dir, url, clock, ask
        self._last = clock()

    def lost(self) -> str:
        """The reason, or nothing while the runtime lives."""
        ended = directory.read_ended(self._job_dir, Role.RUNTIME)
        if ended is not None:
            return f"the runtime job ended: {ended.why}"
        if self._ask(self._url) or not self._has_passed():
            self._last = self._clock()
        elif self._clock() - self._last > PATIENCE_S:
            return f"the runtime at {self._url} has not answered for {self._clock() - self._last:.0f} s"
        return ""

    def _has_passed(self) -> bool:
        """Until then the gate looks at the same runtime, and says more of it: that its flag is an earlier run's (SLM004)."""
        return os.path.exists(os.path.join(self._job_dir, verdict.FILE))
