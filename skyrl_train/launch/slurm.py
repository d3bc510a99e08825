"""Slurm's commands, each with a limit. What they say wrong is told with their own words."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.config.walltime import minutes
from skyrl_train.contracts.errors import TrainError
from skyrl_train.process import KEEP, Child, start

LIMIT_S = 30.0
RESTARTS = "SLURM_RESTART_COUNT"
FINISH_S = 5.0
OF_THE_SITE = ("SLURM_CONF", "SLURM_CLUSTERS")
"""The variables that are no job's: without them Slurm's commands find no cluster."""
_SCRIPT = re.compile(r" Command=(.*?) WorkDir=")
_BUSY = "Socket timed out"
_ID = re.compile(r"(\d+)(?:;\S+)?")


class SlurmError(TrainError):
    """A command of Slurm that failed, is missing, or does not answer."""


@dataclass(frozen=True, slots=True)
class State:
    """What Slurm tells of a job. `state` is empty where it knows the job no more."""

    state: str
    reason: str = ""
    restarts: int = 0
    ran_s: float = 0.0
    limit_s: float = 0.0
    """0 where it is not known."""
    script: str = ""

    @property
    def left_s(self) -> float:
        return max(0.0, self.limit_s - self.ran_s)


def own_id(environ: Mapping[str, str]) -> str:
    """The id of the job in which this runs; nothing outside of one."""
    said = environ.get("SLURM_JOB_ID", "")
    return said if said.isascii() and said.isdigit() else ""


def submit(script: str, *options: str, environ: Mapping[str, str] | None = None) -> str:
    """The id of the new job. `environ`: what it starts from, where that is not our own.

    We may be in a job that was restarted: Slurm sets that count for a job that was, and lets it stand for others.
    """
    given = {name: value for name, value in (environ or os.environ).items() if name != RESTARTS}
    said = _run("sbatch", "--parsable", *options, script, environ=given)
    found = _ID.fullmatch(said.strip().splitlines()[-1] if said.strip() else "")
    if found is None:
        raise SlurmError(f"sbatch said {said.strip()[:200]!r}; wanted the id of a job")
    return found[1]


def cancel(*job_ids: str) -> None:
    if job_ids:
        _asked("scancel", *job_ids)


def requeue(job_id: str) -> None:
    _run("scontrol", "requeue", job_id)


def partitions(*, limit_s: float = LIMIT_S) -> str:
    """One line for each."""
    return _asked("scontrol", "--oneliner", "show", "partition", limit_s=limit_s)


def state(job_id: str, *, limit_s: float = LIMIT_S) -> State:
    try:
        said = _asked("scontrol", "--oneliner", "show", "job", job_id, limit_s=limit_s)
    except SlurmError as error:
        if "Invalid job id" in str(error):
            return State("")
        raise
    facts = dict(word.split("=", 1) for word in said.split() if "=" in word)
    restarts = facts.get("Restarts", "")
    return State(
        facts.get("JobState", ""),
        facts.get("Reason", ""),
        restarts=int(restarts) if restarts.isdigit() else 0,
        ran_s=_seconds(facts.get("RunTime", "")),
        limit_s=_seconds(facts.get("TimeLimit", "")),
        script=found[1] if (found := _SCRIPT.search(said)) else "",
    )


def _seconds(text: str) -> float:
    return 60 * (minutes(text) or 0.0)


def _asked(*words: str, limit_s: float = LIMIT_S) -> str:
    """What may be said twice is: a controller that is busy lets a call time out, and hears the next."""
    try:
        return _run(*words, limit_s=limit_s)
    except SlurmError as error:
        if _BUSY not in str(error):
            raise
    return _run(*words, limit_s=limit_s)


def _run(*words: str, limit_s: float = LIMIT_S, environ: Mapping[str, str] | None = None) -> str:
    """What it printed. With it ends what it started, such as the program behind a site's wrapper. Raises SlurmError."""
    try:
        child = start(words, env=environ, stdout=KEEP, stderr=KEEP)
    except FileNotFoundError:
        raise SlurmError(f"{words[0]} is not installed here: launch from a login node, or say --local") from None
    except OSError as error:
        raise SlurmError(f"{words[0]} cannot be run: {error.strerror}") from None
    try:
        done = child.collect(limit_s, grace_s=0.0)
    except BaseException:  # a signal that ends the launch
        if words[0] == "sbatch":
            _take_back(child)
        raise
    finally:
        child.end(0.0)
    if done.timed_out:
        raise SlurmError(f"{shown(words)} did not answer within {limit_s:g} s{_perhaps(words)}")
    if not done.ok:
        said = "; ".join((done.error_text or done.text).strip().splitlines()) or "no reason given"
        raise SlurmError(f"{words[0]} refused: {said}{_perhaps(words) if _BUSY in said else ''}")
    return done.text


def _take_back(sbatch: Child) -> None:
    """Lets an interrupted sbatch finish, and cancels the job that it submitted."""
    found = _ID.fullmatch(sbatch.collect(FINISH_S, grace_s=0.0).text.strip())
    if found:
        cancel(found[1])


def _perhaps(words: Sequence[str]) -> str:
    return "; whether the job was submitted all the same, `squeue --me` tells" if words[0] == "sbatch" else ""


def shown(words: Sequence[str]) -> str:
    return shlex.join(words)
