"""Inside a job: wait for what it needs, pass the gate, run the payload, and leave nothing behind on any way out."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
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
)
from skyrl_train.launch.closing import close
from skyrl_train.launch.gate import environment, gated, refusal
from skyrl_train.launch.marks import MARK, ROLE_MARK
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import (
    SLURM_EVERY_S,
    Partner,
    Pulse,
    gone,
    is_queued,
    why_not_ready,
)
from skyrl_train.launch.work import Followed, Work, say
from skyrl_train.process import Child, started

REFUSED = 78
GRACE_S = 20.0
NODES_GRACE_S = 25.0
"""Each of several nodes ends its trainer and then its Ray."""
STEP_S = 0.2
ASK_EVERY_S = 3.0


def supervise(work: Work) -> int:
    """The job's exit status; how it ended is told in the job directory before the other job is ended."""
    ended = directory.Ended(1, "the supervisor failed", time.time())
    try:
        directory.forget(work.job_dir, directory.ended_name(work.role))  # of an earlier turn
        ended = _run(work)
    except node_settings.SettingsError as error:
        ended = directory.Ended(REFUSED, str(error), time.time())
    except (TrainError, OSError) as error:
        ended = directory.Ended(1, str(error), time.time())
    finally:
        close(work, ended)
    return ended.status


def _run(work: Work) -> directory.Ended:
    if work.node_script:
        if not node_settings.take(work.node_script, work.signals.told_to_end):
            return _stopped(work)
        work = replace(work, environ={**os.environ, **work.config.env})
    url = _wait_for_runtime(work) if work.role is Role.TRAINER else ""
    if url is None:
        return _stopped(work)
    others: list[Followed] = []
    if work.role is Role.RUNTIME:
        others.append(Partner(work.job_dir, time.monotonic))
    elif url:
        others.append(Pulse(work.job_dir, url, time.monotonic))
    if work.nodes:
        node_files.begin(work.job_dir)
        others.append(node_watch.Beats(work.job_dir, work.nodes, time.monotonic))
    environ = {**work.environ, **environment(work.external_url), MARK: work.job_dir, ROLE_MARK: work.role}
    grace_s = NODES_GRACE_S if work.nodes else GRACE_S
    with _beside(work, environ), started(_words(work), env=environ, grace_s=grace_s) as child:
        reason = _follow(work, child, others)
    status = child.status
    if reason:
        return _ended(1, reason)
    if work.signals.stop:
        return _stopped(work)
    if status == REFUSED:
        return _ended(REFUSED, f"the gate refused: {refusal(work.role, work.job_dir)}")
    cause = node_watch.cause(work.job_dir, work.nodes) if status else None
    if cause is not None:
        return _ended(cause.status, cause.reason)
    if status < 0:
        return _ended(128 - status, f"the {work.role} was killed by signal {-status}")
    return _ended(status, "" if status == 0 else f"the {work.role} ended with {status}")


def _words(work: Work) -> tuple[str, ...]:
    """The payload behind its gate; on several nodes, what starts a part of it on each."""
    if not work.nodes:
        return gated(work.role, work.job_dir, work.payload)
    part = steps.train(work.config, work.job_dir, sys.executable)
    return gated(work.role, work.job_dir, part, steps.look(work.config, work.job_dir, sys.executable))


def _beside(work: Work, environ: Mapping[str, str]) -> AbstractContextManager[object]:
    """The doctor's watch, where the trainer runs."""
    if work.role is Role.RUNTIME:
        return nullcontext()
    return sidecar.watched(work.config, work.job_dir, directory.read_jobs(work.job_dir), environ, work.logs)


def _wait_for_runtime(work: Work) -> str | None:
    """The runtime's address when it is ready; None when the job was told to stop first."""
    if work.external_url is not None:
        return work.external_url
    if restarts.number(work.environ):
        _take_turn(work)
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
            if is_queued(work.job_dir, Role.RUNTIME):
                end_at = time.monotonic() + timeout_s  # which counts from its start
            next_look = time.monotonic() + SLURM_EVERY_S
        time.sleep(STEP_S)
    return None


def _take_turn(work: Work) -> None:
    new = restarts.new_runtime(work.job_dir, work.job_id, work.environ, restarts.Scheduler(), work.signals.told_to_end)
    say(
        f"turn {restarts.number(work.environ) + 1}: {f'the runtime is job {new} now' if new else 'the runtime is still there'}"
    )
    said = "" if new or work.signals.stop else left_sandboxes.end(work.job_dir)
    if said:
        say(said)


def _follow(work: Work, child: Child, others: Sequence[Followed]) -> str:
    """Until the payload ends or must end; why, where it is not the payload's own doing."""
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
    """A job that is told to stop has been cancelled by a person, by Slurm, or by the other job, which says why."""
    other = directory.read_ended(work.job_dir, work.role.other)
    cause = f": the {work.role.other} job ended: {other.reason or 'done'}" if other else ""
    return _ended(128 + work.signals.stop, f"stopped by signal {work.signals.stop}{cause}")


def _ended(status: int, reason: str) -> directory.Ended:
    return directory.Ended(status, reason, time.time())
