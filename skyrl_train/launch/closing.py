"""The end of a job: records how it ended, cleans up the node, and ends the other job."""

import os
import sys
import time
from collections.abc import Callable, Mapping

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import COMPLETE, SUMMARY
from skyrl_train.launch import directory, leftovers, restarts, sidecar, slurm, steps, stop_cause, turns
from skyrl_train.launch.marks import MARK, ROLE_MARK, end_marked
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import why_lost
from skyrl_train.launch.work import Work, say
from skyrl_train.process import INHERIT, run

STRAYS_GRACE_S = 5.0
TRAINER_END_S = 40
"""Longer than Slurm waits between SIGTERM and SIGKILL (30 s)."""


def close(
    work: Work,
    ended: directory.Ended,
    *,
    clear: Callable[[Mapping[str, str]], list[str]] = leftovers.of_this_job,
    write_summary: Callable[[RunConfig, str], None] = sidecar.post_mortem,
) -> None:
    """Records how the job ended, then ends the processes left on this node and the other job."""
    restart = _next_restart(work)
    refused = turns.why_no_requeue(work, ended) if restart is restarts.Restart.REQUEST else ""
    if refused:
        restart, ended = None, directory.Ended(ended.status or 1, refused, ended.at)
    elif restart and turns.ignored_warning(work, ended):
        say(turns.ignored_warning(work, ended))
    say(f"{work.role}: {ended.reason or 'done'}")
    superseded = directory.is_superseded(work.job_dir, work.role, work.job_id)
    if not restart and not superseded:
        _record_end(work, work.role, ended)
    left = end_marked({MARK: work.job_dir, ROLE_MARK: work.role}, STRAYS_GRACE_S)
    if left:
        say(f"ended {amount(len(left), 'process', plural='processes')} left by the {work.role}")
    if work.nodes and ended.status and not work.signals.stop:
        _clear_nodes(work)
    for trouble in clear(work.environ):
        say(trouble)
    if work.job_id and not superseded:
        _end_other(work, ended, restart)
    if (
        not restart and not superseded and _is_last(work, ended)
    ):  # last, because it takes longest and Slurm may kill the job
        write_summary(work.config, work.job_dir)


def _is_last(work: Work, ended: directory.Ended) -> bool:
    """Whether this job writes the post-mortem: the trainer, or the runtime if its trainer was killed or never ran.

    A trainer that is cancelled while it starts is killed before it can write. A runtime that failed waits for its end.
    """
    if work.role is Role.TRAINER:
        return True
    summary = os.path.join(work.job_dir, SUMMARY)
    if Role.TRAINER not in directory.read_jobs(work.job_dir):
        return not os.path.exists(summary)
    waits = ended.status and not stop_cause.is_replaced(work.job_dir, work.job_id)
    for _ in range(TRAINER_END_S if waits else 1):
        if os.path.exists(summary):
            return False
        if why_lost(work.job_dir, Role.TRAINER):
            return not os.path.exists(summary)
        if waits:
            time.sleep(1)
    return False


def _clear_nodes(work: Work) -> None:
    """Cleans up the nodes whose part was killed. Not after a stop signal: the parts clean up then, and srun starts nothing."""
    words, limit_s = steps.clear(work.config, work.job_dir, sys.executable), steps.CLEAR_LIMIT_S
    try:
        done = run(words, limit_s=limit_s, stdout=INHERIT, stderr=INHERIT)
        why = f"{words[0]} timed out after {limit_s:g} s" if done.timed_out else ""
    except OSError as error:
        why = str(error)
    if why:
        say(f"the other nodes were not cleaned up: {why}. Run `skyrl-train sweep {work.job_id}` on each of them.")


def _record_end(work: Work, role: Role, ended: directory.Ended) -> None:
    try:
        directory.write_ended(work.job_dir, role, ended)
        if role is Role.TRAINER and ended.status == 0:
            directory.write(work.job_dir, COMPLETE, f"{ended.at:.0f}\n")
    except TrainError as error:
        say(str(error))


def _next_restart(work: Work) -> restarts.Restart | None:
    if work.role is not Role.TRAINER or not work.config.slurm.requeue or not work.job_id:
        return None
    return restarts.next_restart(
        work.job_id,
        work.environ,
        stopped=work.signals.stop_requested(),
        warned=work.signals.before_end,
        ask=restarts.quick_state,
    )


def _end_other(work: Work, ended: directory.Ended, restart: restarts.Restart | None) -> None:
    """Requeues this trainer and ends a runtime that it cannot keep, or cancels the trainer of a failed runtime.

    A runtime ends by itself when its trainer has ended. A queued trainer must be cancelled, unless it was requeued: then
    it starts a new runtime.
    """
    other = directory.read_jobs(work.job_dir).get(work.role.other)
    try:
        if restart is restarts.Restart.REQUEST:
            slurm.requeue(work.job_id)
        if restart:
            _end_short_runtime(work, other)
        elif other and work.role is Role.RUNTIME and ended.status and not _is_restarted(work, other):
            if directory.read_ended(work.job_dir, Role.TRAINER) is None:  # a queued trainer cannot record it itself
                is_stopped = stop_cause.requested(work.job_dir, Role.TRAINER)
                lost = directory.Ended(1, f"the runtime job ended: {ended.why}", time.time())
                _record_end(work, Role.TRAINER, ended if is_stopped else lost)
            slurm.cancel(other)
    except TrainError as error:
        say(str(error))


def _is_restarted(work: Work, trainer: str) -> bool:
    """Whether the trainer was requeued: it then starts a new runtime itself."""
    return stop_cause.is_replaced(work.job_dir, work.job_id) or restarts.quick_state(trainer).restarts > 0


def _end_short_runtime(work: Work, runtime: str | None) -> None:
    """Ends a runtime whose time limit comes before that of the trainer's next turn, so that it does not idle until then."""
    if not runtime or not runtime.isdigit():
        return
    theirs, ours = restarts.quick_state(runtime), restarts.quick_state(work.job_id)
    if theirs.state == "RUNNING" and theirs.limit_s > 0 and theirs.left_s < ours.limit_s:
        stop_cause.write_request(work.job_dir, stop_cause.REPLACED, (runtime,))
        slurm.cancel(runtime)
        say(
            f"ended runtime job {runtime}: it has {theirs.left_s / 60:.0f} min left, and the next turn needs {ours.limit_s / 60:.0f}"
        )
