"""Inside a job: wait for what it needs, pass the gate, run the payload, and leave nothing behind on any way out."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from skyrl_train.config.run import RunConfig
from skyrl_train.fail import TrainError
from skyrl_train.launch import directory, leavings, sidecar, slurm
from skyrl_train.launch.child import MARK, ROLE_MARK, end_marked, started
from skyrl_train.launch.gate import gated, refusal
from skyrl_train.launch.names import COMPLETE
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import SLURM_EVERY_S, TRAINER_ENDED, Partner, Pulse, gone, why_not_ready

REFUSED = 78
GRACE_S = 20.0
STEP_S = 0.2
ASK_EVERY_S = 3.0


@dataclass
class Signals:
    """What the job was told, since it started."""

    stop: int = 0
    before_end: bool = False
    passed_on: bool = field(default=False)

    def listen(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGUSR1, self._before_end)

    def _stop(self, number: int, _frame: object) -> None:
        self.stop = number

    def _before_end(self, _number: int, _frame: object) -> None:
        self.before_end = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One job at work."""

    role: Role
    job_dir: str
    config: RunConfig
    payload: tuple[str, ...]
    environ: Mapping[str, str]
    signals: Signals
    external_url: str | None = None


def supervise(work: Work) -> int:
    """The job's exit status; how it ended is told in the job directory before the other job is ended."""
    ended = directory.Ended(1, "the supervisor failed", time.time())
    try:
        ended = _run(work)
    except TrainError as error:
        ended = directory.Ended(1, str(error), time.time())
    finally:
        _close(work, ended)
    return ended.status


def _run(work: Work) -> directory.Ended:
    url = _wait_for_runtime(work) if work.role is Role.TRAINER else ""
    if url is None:
        return _stopped(work)
    other = Pulse(work.job_dir, url, time.monotonic) if url else Partner(work.job_dir, time.monotonic)
    words = gated(work.role, work.job_dir, work.payload)
    environ = {**work.environ, MARK: work.job_dir, ROLE_MARK: work.role}
    with _beside(work, environ), started(words, environ, GRACE_S) as child:
        reason = _follow(work, child, other)
    status = child.returncode
    if reason:
        return _ended(1, reason)
    if work.signals.stop:
        return _stopped(work)
    if status == REFUSED:
        return _ended(REFUSED, f"the gate refused: {refusal(work.role, work.job_dir)}")
    return _ended(
        status if status >= 0 else 128 - status, "" if status == 0 else f"the {work.role} ended with {status}"
    )


def _beside(work: Work, environ: Mapping[str, str]) -> AbstractContextManager[object]:
    """The doctor's watch, where the trainer runs."""
    if work.role is Role.RUNTIME:
        return nullcontext()
    return sidecar.watched(work.config, work.job_dir, directory.read_jobs(work.job_dir), environ)


def _wait_for_runtime(work: Work) -> str | None:
    """The runtime's address when it is ready; None when the job was told to stop first."""
    if work.external_url is not None:
        return work.external_url
    timeout_s = work.config.slurm.ready_timeout_s
    next_look = time.monotonic()
    end_at = next_look + timeout_s
    while not work.signals.stop:
        why = why_not_ready(work.job_dir, time.monotonic() > end_at, timeout_s)
        if why:
            raise TrainError(why)
        if why == "":
            return directory.runtime_url(work.job_dir)
        if time.monotonic() >= next_look:
            lost = gone(work.job_dir, Role.RUNTIME)
            if lost:
                raise TrainError(f"{lost}, and it was never ready")
            next_look = time.monotonic() + SLURM_EVERY_S
        time.sleep(STEP_S)
    return None


def _follow(work: Work, child: subprocess.Popen[bytes], other: Pulse | Partner) -> str:
    """Until the payload ends or must end; why, where it is not the payload's own doing."""
    next_look = time.monotonic() + ASK_EVERY_S
    while child.poll() is None and not work.signals.stop:
        if work.signals.before_end and not work.signals.passed_on:
            work.signals.passed_on = True
            os.kill(child.pid, signal.SIGUSR1)
        if time.monotonic() >= next_look:
            lost = other.lost()
            if lost:
                return lost
            next_look = time.monotonic() + ASK_EVERY_S
        time.sleep(STEP_S)
    return ""


def _close(work: Work, ended: directory.Ended) -> None:
    """Tells how it ended, then ends what is left here and the other job."""
    if work.role is Role.RUNTIME and ended.reason == TRAINER_ENDED:
        ended = directory.Ended(0, "", ended.at)
    _say(f"{work.role}: {ended.reason or 'done'}")
    requeued = goes_on(work, ended.at)
    try:
        if not requeued:
            directory.write_ended(work.job_dir, work.role, ended)
        if work.role is Role.TRAINER and ended.status == 0 and not requeued:
            directory.write(work.job_dir, COMPLETE, f"{ended.at:.0f}\n")
    except TrainError as error:
        _say(str(error))
    left = end_marked({MARK: work.job_dir, ROLE_MARK: work.role}, GRACE_S / 4)
    if left:
        _say(f"ended {len(left)} processes that the {work.role} had left")
    if work.role is Role.TRAINER and not requeued:
        sidecar.post_mortem(work.config, work.job_dir)
    job_id = work.environ.get("SLURM_JOB_ID")
    if job_id:  # without Slurm both share a directory, which local.py removes after both
        trouble = leavings.remove(leavings.node_directory(os.getuid(), job_id))
        if trouble:
            _say(trouble)
        _end_other(work, ended, job_id, requeued=requeued)


def goes_on(work: Work, at: float) -> bool:
    """Whether the trainer takes another turn: it was warned of its end, and nobody cancelled it before its limit."""
    if work.role is not Role.TRAINER or not work.signals.before_end or not work.config.slurm.requeue:
        return False
    limit = work.environ.get("SLURM_JOB_END_TIME", "")
    return not work.signals.stop or not limit.isdigit() or at >= int(limit)


def _end_other(work: Work, ended: directory.Ended, job_id: str, *, requeued: bool) -> None:
    """The trainer may go on in another turn. A runtime that runs ends by itself once it sees that the trainer has."""
    other = directory.read_jobs(work.job_dir).get(work.role.other)
    try:
        if requeued:
            slurm.requeue(job_id)
        elif other and work.role is Role.RUNTIME and ended.status:
            slurm.cancel(other)  # it may still be in the queue, where it sees nothing
    except TrainError as error:
        _say(str(error))


def _stopped(work: Work) -> directory.Ended:
    """A job that is told to stop has been cancelled by a person, by Slurm, or by the other job, which says why."""
    other = directory.read_ended(work.job_dir, work.role.other)
    cause = f": the {work.role.other} job ended: {other.reason or 'done'}" if other else ""
    return _ended(128 + work.signals.stop, f"stopped by signal {work.signals.stop}{cause}")


def _ended(status: int, reason: str) -> directory.Ended:
    return directory.Ended(status, reason, time.time())


def _say(text: str) -> None:
    sys.stderr.write(f"skyrl-train job: {text}\n")
    sys.stderr.flush()
