"""Supervises a job: waits for the runtime, passes the gate, runs the payload and cleans up in every case."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from skyrl_train.contracts.errors import TrainError
from skyrl_train.launch import (
    directory,
    left_sandboxes,
    node_files,
    node_settings,
    node_watch,
    restarts,
    sidecar,
    steps,
    stop_cause,
    turns,
)
from skyrl_train.launch.closing import close
from skyrl_train.launch.gate import environment, gated, refusal
from skyrl_train.launch.marks import MARK, ROLE_MARK
from skyrl_train.launch.payload_error import payload_error
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import (
    IDLE,
    PATIENCE_S,
    SLURM_EVERY_S,
    RuntimeWatch,
    TrainerWatch,
    is_queued,
    why_lost,
    why_not_ready,
)
from skyrl_train.launch.work import Followed, Work, say
from skyrl_train.process import Child, started

REFUSED = 78
NOT_FOUND = 127
GRACE_S = 20.0
NODES_GRACE_S = 25.0
"""With several nodes, each ends its trainer and then its Ray."""
STEP_S = 0.2
ASK_EVERY_S = 3.0


def supervise(work: Work, *, words: Callable[[Work], tuple[str, ...]] | None = None) -> int:
    """Runs the job; its exit status. How it ended is recorded in the job directory before the other job is ended.

    `words` makes the command line (default: the gate, then the payload).
    """
    ended = directory.Ended(1, "the supervisor failed", time.time())
    try:
        directory.forget(work.job_dir, directory.ended_name(work.role))  # left from before a restart
        ended = _run(work, words or _words)
    except node_settings.SettingsError as error:
        ended = directory.Ended(REFUSED, str(error), time.time())
    except (TrainError, OSError) as error:
        ended = directory.Ended(1, str(error), time.time())
    finally:
        close(work, ended)
    return ended.status


def _run(work: Work, words: Callable[[Work], tuple[str, ...]]) -> directory.Ended:
    if work.node_script:
        if not node_settings.apply(work.node_script, work.signals.stop_requested):
            return _stopped(work)
        work = replace(work, environ={**os.environ, **work.config.env})
    refused = turns.too_many(work) if work.role is Role.TRAINER else ""
    if refused:
        return _ended(1, refused)
    url = _wait_for_runtime(work) if work.role is Role.TRAINER else ""
    if url is None:
        return _stopped(work)
    others: list[Followed] = []
    if work.role is Role.RUNTIME:
        others.append(TrainerWatch(work.job_dir, time.monotonic))
    elif url:
        # a runtime of this launch does not come back; another one may, and rollouts wait for it that long
        patience_s = work.config.sandbox.outage_limit_s if work.external_url else PATIENCE_S
        others.append(RuntimeWatch(work.job_dir, url, time.monotonic, patience_s=patience_s))
    if work.nodes:
        node_files.begin(work.job_dir)
        others.append(node_watch.Beats(work.job_dir, work.nodes, time.monotonic))
    environ = {**work.environ, **environment(work.external_url), MARK: work.job_dir, ROLE_MARK: work.role}
    grace_s = NODES_GRACE_S if work.nodes else GRACE_S
    with _watch(work, environ), started(words(work), env=environ, grace_s=grace_s) as child:
        reason = _follow(work, child, others)
    status = child.status
    if reason and stop_cause.requested(work.job_dir, work.role):
        return _stopped(work)
    if reason:
        return _with_trainer(work, reason) if work.role is Role.RUNTIME else _ended(1, reason)
    if work.signals.stop:
        return _stopped(work)
    if status == REFUSED:
        return _ended(REFUSED, f"the gate refused: {refusal(work.role, work.job_dir)}")
    cause = node_watch.cause(work.job_dir, work.nodes) if status else None
    if cause is not None:
        return _ended(cause.status, cause.reason)
    if status < 0:
        return _ended(128 - status, f"the {work.role} was killed by signal {-status}")
    if status == NOT_FOUND and shutil.which(work.payload[0], path=work.environ.get("PATH")) is None:
        return _ended(status, f"the program {work.payload[0]!r} was not found on this node")
    if status == 0:
        return _ended(0, "")
    error = payload_error(work.job_dir, work.role, work.job_id, work.log_start)
    return _ended(status, f"the {work.role} exited with status {status}{f': {error}' if error else ''}")


def _with_trainer(work: Work, reason: str) -> directory.Ended:
    """The end of the runtime because its trainer ended: a success of the runtime. A trainer that was killed is recorded."""
    if reason == IDLE:
        return _ended(0, reason)
    trainer = directory.read_ended(work.job_dir, Role.TRAINER)
    if trainer is None:
        directory.write_ended(work.job_dir, Role.TRAINER, _ended(1, reason))
        return _ended(0, reason)
    return _ended(0, "" if trainer.status == 0 else reason)


def _words(work: Work) -> tuple[str, ...]:
    """The command line with the gate; on several nodes, one that starts a part on each."""
    if not work.nodes:
        return gated(work.role, work.job_dir, work.payload)
    part = steps.train(work.config, work.job_dir, sys.executable)
    return gated(work.role, work.job_dir, part, steps.check(work.config, work.job_dir, sys.executable))


def _watch(work: Work, environ: Mapping[str, str]) -> AbstractContextManager[object]:
    """The doctor's watch for the trainer; nothing for the runtime."""
    if work.role is Role.RUNTIME:
        return nullcontext()
    return sidecar.watched(work.config, work.job_dir, directory.read_jobs(work.job_dir), environ, work.logs)


def _wait_for_runtime(work: Work) -> str | None:
    """The runtime's address when it is ready, or None if the job was stopped first."""
    if work.external_url is not None:
        return work.external_url
    if restarts.count(work.environ):
        _restart(work)
    timeout_s = work.config.slurm.ready_timeout_s
    next_look = time.monotonic()
    end_at = next_look + timeout_s
    while not work.signals.stop:
        why = why_not_ready(work.job_dir, time.monotonic() > end_at, timeout_s)
        if why and stop_cause.requested(work.job_dir, work.role):
            return None
        if why:
            raise TrainError(why)
        if why == "":
            return directory.runtime_url(work.job_dir)
        if time.monotonic() >= next_look:
            lost = why_lost(work.job_dir, Role.RUNTIME)
            if lost:
                raise TrainError(f"{lost}; it was never ready")
            if is_queued(work.job_dir, Role.RUNTIME):
                end_at = time.monotonic() + timeout_s  # the limit counts from the start of the runtime
            next_look = time.monotonic() + SLURM_EVERY_S
        time.sleep(STEP_S)
    return None


def _restart(work: Work) -> None:
    new = restarts.new_runtime(
        work.job_dir, work.job_id, work.environ, restarts.Scheduler(), work.signals.stop_requested
    )
    say(
        f"restart {restarts.count(work.environ)}: {f'started a new runtime, job {new}' if new else 'the runtime is still running'}"
    )
    outcome = "" if new or work.signals.stop else left_sandboxes.end(work.job_dir)
    if outcome:
        say(outcome)


def _follow(work: Work, child: Child, others: Sequence[Followed]) -> str:
    """Waits until the payload ends or must end; the reason, empty if it ended by itself or was stopped."""
    next_look = time.monotonic() + ASK_EVERY_S
    while child.poll() is None and not work.signals.stop:
        if work.signals.before_end and not work.signals.passed_on:
            _warn(work, child)
        if time.monotonic() >= next_look:
            lost = next(filter(None, (other.lost() for other in others)), "")
            if lost:
                return lost
            next_look = time.monotonic() + ASK_EVERY_S
        time.sleep(STEP_S)
    return ""


def _warn(work: Work, child: Child) -> None:
    if work.nodes:
        work.signals.passed_on = True
        node_files.warn(work.job_dir)
    else:
        work.signals.pass_on(child.pid)


def _stopped(work: Work) -> directory.Ended:
    """The end of a stopped job, with its cause. If the other job cancelled this one, that job's reason is added.

    `skyrl-train stop` may end the other job first: the signal for this one is then on its way.
    """
    number = work.signals.stop or signal.SIGTERM
    other = directory.read_ended(work.job_dir, work.role.other)
    cause = stop_cause.stop_cause(work.job_dir, work.role, work.job_id, work.log_start)
    if other is not None and cause in ("", stop_cause.SCANCEL):
        cause = f"the {work.role.other} job ended: {other.reason or 'done'}"
    return _ended(128 + number, f"stopped by signal {number:d}{f': {cause}' if cause else ''}")


def _ended(status: int, reason: str) -> directory.Ended:
    return directory.Ended(status, reason, time.time())
