"""Asks Slurm what it would make of each job: `sbatch --test-only` judges accounts, limits and options, and submits nothing."""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import slurm
from skyrl_train.launch.jobs import Job
from skyrl_train.launch.render import script
from skyrl_train.launch.role import Role

LIMIT_S = 10.0
_CERTAIN = (
    "Access denied to requested reservation",
    "Access/permission denied",
    "Invalid account",
    "Invalid feature specification",
    "Invalid generic resource",
    "Invalid node name specified",
    "Invalid partition name specified",
    "Invalid qos specification",
    "Required partition not available (inactive or drain)",
    "Requested reservation is invalid",
    "User's group not permitted to use this partition",
)
"""The beginnings of the reasons for which sbatch refuses a job too. For others, such as drained nodes, it lets the job wait."""
_FAILURE = re.compile(r"allocation failure: ([^;]*)")
_OPTION = re.compile(r"sbatch: (?:error: )?((?:unrecognized option|invalid option|option .* requires|Invalid )[^;]*)")


def refuse(jobs: Mapping[Role, Job], say: Callable[[str], None]) -> None:
    """UsageError if sbatch would refuse a job. Says so if no node could start it now. Without an answer, sbatch decides."""
    for role, job in jobs.items():
        try:
            with scratch_file(script(job)) as path:
                slurm.trial(path, limit_s=LIMIT_S)
        except slurm.SlurmError as error:
            failure, option = _FAILURE.search(str(error)), _OPTION.search(str(error))
            refused = option or (failure if failure and failure[1].startswith(_CERTAIN) else None)
            if refused:
                raise UsageError(
                    f"nothing was submitted, because sbatch refuses the {role} job: {refused[1].strip()}"
                ) from None
            if failure is None:
                return
            say(
                f"Slurm cannot start the {role} job now: {failure[1].strip()}. Nodes may be down or reserved (see `sinfo -R`), "
                "or no node fits"
            )


@contextmanager
def scratch_file(text: str) -> Iterator[str]:
    """The path of a file with this text, which is then removed."""
    with tempfile.NamedTemporaryFile("w", prefix="skyrl-trial-", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        yield file.name
