"""Runs Slurm's commands, each with a time limit. Errors quote Slurm's own message."""

import os
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skyrl_train.config.walltime import minutes
from skyrl_train.contracts.errors import TrainError
from skyrl_train.launch.sbatch_variables import without
from skyrl_train.process import KEEP, Child, start

LIMIT_S = 30.0
RESTARTS = "SLURM_RESTART_COUNT"
FINISH_S = 5.0
OF_THE_SITE = ("SLURM_CONF", "SLURM_CLUSTERS")
"""Variables of the site, not of a job: without them Slurm's commands find no cluster."""
_SCRIPT = re.compile(r" Command=(.*?)(?: SubmitLine=.*?)? WorkDir=")
"""Slurm 25.05 and later print the user's command line between the two."""
_AFTER_NAME = re.compile(r" UserId=\S*\(\d+\) GroupId=\S*\(\d+\) ")
_BUSY = "Socket timed out"
_ID = re.compile(r"(\d+)(?:;\S+)?")


class SlurmError(TrainError):
    """A Slurm command failed, is not installed or timed out."""


@dataclass(frozen=True, slots=True)
class JobState:
    """Slurm's record of a job. `state` is empty if Slurm no longer knows the job."""

    state: str
    reason: str = ""
    restarts: int = 0
    ran_s: float = 0.0
    limit_s: float = 0.0
    """0 if unknown."""
    script: str = ""
    eligible_at: float = 0.0
    """The time before which Slurm does not start a queued job; 0 if unknown."""

    @property
    def left_s(self) -> float:
        return max(0.0, self.limit_s - self.ran_s)


def own_id(environ: Mapping[str, str]) -> str:
    """The id of the job in which this runs, empty outside a job."""
    output = environ.get("SLURM_JOB_ID", "")
    return output if output.isascii() and output.isdigit() else ""


def submit(script: str, *options: str, environ: Mapping[str, str] | None = None) -> str:
    """Submits a job; its id. `environ` replaces this process's environment.

    Without the restart count: in a restarted job it is set, and a new job would inherit it.
    """
    given = {name: value for name, value in without(environ or os.environ).items() if name != RESTARTS}
    output = _run("sbatch", "--parsable", *options, script, environ=given)
    found = _ID.fullmatch(output.strip().splitlines()[-1] if output.strip() else "")
    if found is None:
        raise SlurmError(f"sbatch printed {output.strip()[:200]!r}; expected a job id")
    return found[1]


def trial(script: str, *, limit_s: float = LIMIT_S) -> None:
    """Lets Slurm judge a job without submitting it. SlurmError if it could not start it, or does not answer."""
    _run("sbatch", "--test-only", script, limit_s=limit_s, environ=without(os.environ))


def cancel(*job_ids: str) -> None:
    if job_ids:
        _run_twice("scancel", *job_ids)


def requeue(job_id: str) -> None:
    _run("scontrol", "requeue", job_id)


def start_soon(job_id: str) -> None:
    """Ends the wait of a requeued job: Slurm lets it begin two minutes later. A node needs a second between two turns."""
    _run("scontrol", "update", f"JobId={job_id}", "StartTime=now+5", limit_s=5.0)


def controller_settings(*, limit_s: float = LIMIT_S) -> str:
    """The settings of slurmctld, one a line."""
    return _run_twice("scontrol", "show", "config", limit_s=limit_s)


def partitions(*, limit_s: float = LIMIT_S) -> str:
    """Slurm's partitions, hidden ones too, one line each."""
    return _run_twice("scontrol", "--all", "--oneliner", "show", "partition", limit_s=limit_s)


def nodes_of(partition: str, *, limit_s: float = LIMIT_S) -> str:
    """Memory in MiB, CPUs and generic resources of each node of a partition, one line each."""
    format_ = "--format=%m|%c|%G"
    return _run_twice("sinfo", "--noheader", "--Node", f"--partition={partition}", format_, limit_s=limit_s)


def state(job_id: str, *, limit_s: float = LIMIT_S) -> JobState:
    try:
        output = _run_twice("scontrol", "--oneliner", "show", "job", job_id, limit_s=limit_s)
    except SlurmError as error:
        if "Invalid job id" in str(error):
            return JobState("")
        raise
    return parse_state(output)


def parse_state(output: str) -> JobState:
    """The state in a line of `scontrol --oneliner show job`, of Slurm 20.11 to 25.11.

    The job's name before UserId and the command lines after Command are the user's: they may hold any word.
    """
    named = _AFTER_NAME.search(output)
    record = output[named.start() :] if named else output
    facts = _fields(record.partition(" Command=")[0])
    restarts = facts.get("Restarts", "")
    return JobState(
        facts.get("JobState", ""),
        facts.get("Reason", ""),
        restarts=int(restarts) if restarts.isdigit() else 0,
        ran_s=_seconds(facts.get("RunTime", "")),
        limit_s=_seconds(facts.get("TimeLimit", "")),
        script=found[1] if (found := _SCRIPT.search(record)) else "",
        eligible_at=_epoch(facts.get("EligibleTime", "")),
    )


def _fields(text: str) -> dict[str, str]:
    """The first value of each name: a comment comes last."""
    facts: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if equals:
            facts.setdefault(name, value)
    return facts


def _seconds(text: str) -> float:
    return 60 * (minutes(text) or 0.0)


def _epoch(text: str) -> float:
    """The local time that Slurm prints; 0 for `Unknown` and for another SLURM_TIME_FORMAT."""
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except (ValueError, OverflowError):
        return 0.0


def _run_twice(*words: str, limit_s: float = LIMIT_S) -> str:
    """Runs a command that may be repeated, a second time if the controller was too busy to answer."""
    try:
        return _run(*words, limit_s=limit_s)
    except SlurmError as error:
        if _BUSY not in str(error):
            raise
    return _run(*words, limit_s=limit_s)


def _run(*words: str, limit_s: float = LIMIT_S, environ: Mapping[str, str] | None = None) -> str:
    """The output of a command. It and the program that a site's wrapper starts end together. Raises SlurmError."""
    try:
        child = start(words, env=environ, stdout=KEEP, stderr=KEEP)
    except FileNotFoundError:
        raise SlurmError(f"{words[0]} is not installed here: launch from a login node, or pass --local") from None
    except OSError as error:
        raise SlurmError(f"cannot run {words[0]}: {error.strerror}") from None
    try:
        done = child.collect(limit_s, grace_s=0.0)
    except BaseException:  # a signal that ends the launch
        if words[0] == "sbatch":
            _take_back(child)
        raise
    finally:
        child.end(0.0)
    if done.timed_out:
        raise SlurmError(f"{quoted(words)} timed out after {limit_s:g} s{_maybe_submitted(words)}")
    if not done.ok:
        reason = "; ".join((done.error_text or done.text).strip().splitlines()) or "no reason given"
        raise SlurmError(f"{words[0]} refused: {reason}{_maybe_submitted(words) if _BUSY in reason else ''}")
    return done.text


def _take_back(sbatch: Child) -> None:
    """Lets an interrupted sbatch finish, and cancels the job that it submitted."""
    found = _ID.fullmatch(sbatch.collect(FINISH_S, grace_s=0.0).text.strip())
    if found:
        cancel(found[1])


def _maybe_submitted(words: Sequence[str]) -> str:
    return ". The job may have been submitted anyway; check with `squeue --me`." if words[0] == "sbatch" else ""


def quoted(words: Sequence[str]) -> str:
    return shlex.join(words)
