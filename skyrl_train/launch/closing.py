"""The way out of a job: it tells how it ended, and leaves nothing here and nobody waiting there."""

import sys
import time
from collections.abc import Callable, Mapping

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import COMPLETE
from skyrl_train.launch import directory, leftovers, restarts, sidecar, slurm, steps
from skyrl_train.launch.marks import MARK, ROLE_MARK, end_marked
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import TRAINER_ENDED
from skyrl_train.launch.work import Work, say
from skyrl_train.process import INHERIT, run

STRAYS_GRACE_S = 5.0


def close(
    work: Work,
    ended: directory.Ended,
    *,
    clear: Callable[[Mapping[str, str]], list[str]] = leftovers.of_this_job,
    write_summary: Callable[[RunConfig, str], None] = sidecar.post_mortem,
) -> None:
    """Tells how it ended, then ends what is left here and the other job."""
    if work.role is Role.RUNTIME and ended.reason == TRAINER_ENDED:
        ended = directory.Ended(0, "", ended.at)
    say(f"{work.role}: {ended.reason or 'done'}")
    turn = _next_turn(work)
    superseded = directory.is_superseded(work.job_dir, work.role, work.job_id)
    if not turn and not superseded:
        _tell(work, work.role, ended)
    left = end_marked({MARK: work.job_dir, ROLE_MARK: work.role}, STRAYS_GRACE_S)
    if left:
        say(f"ended {len(left)} processes that the {work.role} had left")
    if work.nodes and ended.status and not work.signals.stop:
        _clear_nodes(work)
    for trouble in clear(work.environ):
        say(trouble)
    if work.job_id and not superseded:
        _end_other(work, ended, turn)
    if work.role is Role.TRAINER and not turn:  # last: of all this it takes the longest, and Slurm waits for nobody
        write_summary(work.config, work.job_dir)


def _clear_nodes(work: Work) -> None:
    """A part on a node that was killed has cleared nothing. Those that Slurm tells to end have heard it, and it starts no more."""
    words, limit_s = steps.clear(work.config, work.job_dir, sys.executable), steps.CLEAR_LIMIT_S
    try:
        done = run(words, limit_s=limit_s, stdout=INHERIT, stderr=INHERIT)
        why = f"{words[0]} timed out after {limit_s:g} s" if done.timed_out else ""
    except OSError as error:
        why = str(error)
    if why:
        say(f"the other nodes were not cleared: {why}; run `skyrl-train sweep {work.job_id}` on each")


def _tell(work: Work, role: Role, ended: directory.Ended) -> None:
    try:
        directory.write_ended(work.job_dir, role, ended)
        if role is Role.TRAINER and ended.status == 0:
            directory.write(work.job_dir, COMPLETE, f"{ended.at:.0f}\n")
    except TrainError as error:
        say(str(error))


def _next_turn(work: Work) -> restarts.Next | None:
    if work.role is not Role.TRAINER or not work.config.slurm.requeue or not work.job_id:
        return None
    return restarts.next_turn(
        work.job_id,
        work.environ,
        stopped=work.signals.told_to_end(),
        warned=work.signals.before_end,
        ask=restarts.asked,
    )


def _end_other(work: Work, ended: directory.Ended, turn: restarts.Next | None) -> None:
    """A runtime that runs ends by itself once it sees that the trainer has. A trainer may still be in the queue, where it
    sees nothing; but one that waits there for another turn starts a new runtime then."""
    other = directory.read_jobs(work.job_dir).get(work.role.other)
    try:
        if turn is restarts.Next.TO_ASK_FOR:
            slurm.requeue(work.job_id)
        elif other and work.role is Role.RUNTIME and ended.status and not restarts.asked(other).restarts:
            if directory.read_ended(work.job_dir, Role.TRAINER) is None:  # one that does not listen yet cannot say it
                _tell(work, Role.TRAINER, directory.Ended(1, f"the runtime job ended: {ended.why}", time.time()))
            slurm.cancel(other)
    except TrainError as error:
        say(str(error))
