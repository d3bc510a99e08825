"""Slurm's commands, each with a limit. What they say wrong is told with their own words."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from skyrl_train.fail import TrainError

LIMIT_S = 30.0
_ID = re.compile(r"(\d+)(?:;\S+)?")


class SlurmError(TrainError):
    """A command of Slurm that failed, is missing, or does not answer."""


@dataclass(frozen=True, slots=True)
class State:
    """What Slurm tells of a job. `state` is empty where it knows the job no more."""

    state: str
    reason: str = ""


def submit(script: str, *options: str) -> str:
    """The id of the new job."""
    said = _run("sbatch", "--parsable", *options, script)
    found = _ID.fullmatch(said.strip().splitlines()[-1] if said.strip() else "")
    if found is None:
        raise SlurmError(f"sbatch said {said.strip()[:200]!r}; wanted the id of a job")
    return found[1]


def cancel(*job_ids: str) -> None:
    if job_ids:
        _run("scancel", *job_ids)


def requeue(job_id: str) -> None:
    _run("scontrol", "requeue", job_id)


def state(job_id: str) -> State:
    try:
        said = _run("scontrol", "--oneliner", "show", "job", job_id)
    except SlurmError as error:
        if "Invalid job id" in str(error):
            return State("")
        raise
    facts = dict(word.split("=", 1) for word in said.split() if "=" in word)
    return State(facts.get("JobState", ""), facts.get("Reason", ""))


def _run(*words: str) -> str:
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise SlurmError(f"{words[0]} is not installed here: launch from a login node, or say --local") from None
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{shown(words)} did not answer within {LIMIT_S:g} s") from None
    if done.returncode:
        said = "; ".join((done.stderr or done.stdout).strip().splitlines()) or "no reason given"
        raise SlurmError(f"{words[0]} refused: {said}")
    return done.stdout


def shown(words: Sequence[str]) -> str:
    import shlex

    return shlex.join(words)
