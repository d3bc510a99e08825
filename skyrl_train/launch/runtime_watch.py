"""Watches the other job of the launch: the trainer waits for and watches the runtime, the runtime watches the trainer."""

import os
import time
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
ALIVE = frozenset(
    {"PENDING", "RUNNING", "CONFIGURING", "SUSPENDED", "COMPLETING", "REQUEUED", "REQUEUE_HOLD", "RESIZING"}
)
ASK_LIMIT_S = 5.0
PATIENCE_S = 15.0
"""A busy server may answer late."""
IDLE_S = 120.0
"""A trainer that is queued for longer waits for a node. Starting another runtime takes less."""
IDLE = "the requeued trainer waits for a node; its next turn starts a new runtime"
_SLURMS_DELAY_S = 180.0
"""Slurm delays the next turn of a requeued job by two minutes. A later time is a user's wish."""


def state_within_limit(job_id: str) -> slurm.JobState:
    """The state of a job, with a short time limit: signals are not handled while the caller waits."""
    return slurm.state(job_id, limit_s=ASK_LIMIT_S)


def responds(url: str) -> bool:
    """Whether a server answers at this address. An HTTP error is an answer too."""
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=PROBE_S):  # noqa: S310 -- http(s) only, by directory.runtime_url
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False


def why_not_ready(job_dir: str, timed_out: bool, timeout_s: float) -> str | None:  # noqa: FBT001
    """Why the runtime will never be ready; None while it may become ready, an empty text once it is."""
    ended = directory.read_ended(job_dir, Role.RUNTIME)
    if ended is not None:
        return f"the runtime job ended before it was ready: {ended.why}"
    try:
        if directory.runtime_url(job_dir) is not None:
            return ""
    except UsageError as error:
        return str(error)
    return f"the runtime was not ready within {timeout_s:g} s (slurm.ready_timeout_s)" if timed_out else None


def why_lost(job_dir: str, role: Role, state: Callable[[str], slurm.JobState] = state_within_limit) -> str:
    """The reason if a job ended without a report, because it was killed; an empty text while it lives."""
    job_id = directory.read_jobs(job_dir).get(role, "")
    if not job_id.isdigit():
        pid = job_id.partition(":")[2]
        return f"the {role} process {pid} is no longer running" if pid and not lives(int(pid)) else ""
    try:
        return _why_lost(role, job_id, state(job_id))
    except slurm.SlurmError:
        return ""  # no answer from Slurm's controller tells nothing about the job


def _why_lost(role: Role, job_id: str, answer: slurm.JobState) -> str:
    if answer.state in ALIVE:
        return ""
    if not answer.state:
        return f"the {role} job {job_id} ended without a report, and Slurm no longer knows it"
    return f"the {role} job {job_id} ended without a report: JobState={answer.state} Reason={answer.reason or 'None'}"


def is_queued(job_dir: str, role: Role, state: Callable[[str], slurm.JobState] = state_within_limit) -> bool:
    """Whether Slurm has not started the job yet."""
    job_id = directory.read_jobs(job_dir).get(role, "")
    try:
        return job_id.isdigit() and state(job_id).state in ("PENDING", "CONFIGURING")
    except slurm.SlurmError:
        return False


def _own_end(job_dir: str, runtime: directory.Ended) -> str:
    """The trainer's own end, if the runtime recorded it and then ended well: Slurm had given this job up."""
    own = directory.read_ended(job_dir, Role.TRAINER) if runtime.status == 0 else None
    return own.reason if own is not None else ""


class TrainerWatch:
    """Watches the trainer for the runtime. Asks Slurm too, since a killed trainer leaves no report."""

    def __init__(
        self,
        job_dir: str,
        clock: Callable[[], float],
        state: Callable[[str], slurm.JobState] = state_within_limit,
        start_soon: Callable[[str], None] = slurm.start_soon,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._job_dir, self._clock, self._state, self._start_soon, self._now = job_dir, clock, state, start_soon, now
        self._asked = clock()
        self._idle_since: float | None = None

    def lost(self) -> str:
        """The reason to end the runtime, or an empty text while the trainer is queued or runs."""
        ended = directory.read_ended(self._job_dir, Role.TRAINER)
        if ended is not None:
            return f"the trainer job ended: {ended.reason or 'done'}"
        if self._clock() - self._asked < SLURM_EVERY_S:
            return ""
        self._asked = self._clock()
        return why_lost(self._job_dir, Role.TRAINER, self._state_of) or self._idle()

    def _state_of(self, trainer: str) -> slurm.JobState:
        """The state of the trainer's job. A requeued trainer that only waits for Slurm's delay is started soon."""
        answer = self._state(trainer)
        is_requeued = answer.state == "PENDING" and answer.restarts > 0
        if not is_requeued:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = self._clock()
        if is_requeued and 0 < answer.eligible_at - self._now() <= _SLURMS_DELAY_S:
            self._start_soon(trainer)
        return answer

    def _idle(self) -> str:
        """The reason to end a runtime whose trainer is queued again and gets no node."""
        since = self._idle_since
        return IDLE if since is not None and self._clock() - since > IDLE_S else ""


class RuntimeWatch:
    """Watches a ready runtime for the trainer."""

    def __init__(
        self,
        job_dir: str,
        url: str,
        clock: Callable[[], float],
        ask: Callable[[str], bool] = responds,
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._job_dir, self._url, self._clock, self._ask = job_dir, url, clock, ask
        self._patience_s = patience_s
        self._last = clock()

    def lost(self) -> str:
        """The reason to end the trainer, or an empty text while the runtime lives."""
        ended = directory.read_ended(self._job_dir, Role.RUNTIME)
        if ended is not None:
            return _own_end(self._job_dir, ended) or f"the runtime job ended: {ended.why}"
        if self._ask(self._url) or not self._has_passed():
            self._last = self._clock()
        elif self._clock() - self._last > self._patience_s:
            return f"the runtime at {self._url} has not answered for {self._clock() - self._last:.0f} s"
        return ""

    def _has_passed(self) -> bool:
        """Whether the gate has passed. Before that, the gate itself checks the runtime and gives a better reason (SLM004)."""
        return os.path.exists(os.path.join(self._job_dir, verdict.FILE))
