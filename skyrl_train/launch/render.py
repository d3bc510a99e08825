"""Renders the batch script of a job. Pure: the same job gives the same bytes."""

import functools
import os
import shlex
from typing import TYPE_CHECKING

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.extras import install
from skyrl_train.launch.directory import CONFIG
from skyrl_train.launch.jobs import Job
from skyrl_train.launch.prime import PrimeRun

if TYPE_CHECKING:
    from jinja2 import Environment


def script(job: Job) -> str:
    """The batch script. UsageError if an option holds a line break, since Slurm reads each option from one line."""
    broken = next((option for option in job.options if "\n" in option or "\r" in option), None)
    if broken is not None:
        raise UsageError(f"an sbatch option contains a line break: {broken!r}; remove it")
    return _rendered("job.sh.j2", job)


def node_script(job: Job) -> str:
    """The script that makes the settings of a node of the job."""
    return _rendered("node.sh.j2", job)


def prime_script(run: PrimeRun, job_dir: str) -> str:
    """The script that calls prime-rl."""
    return str(
        _environment()
        .get_template("prime.sh.j2")
        .render(project_dir=run.project_dir, before=run.before, command=run.command(job_dir))
    )


def _rendered(template: str, job: Job) -> str:
    return str(
        _environment()
        .get_template(template)
        .render(
            options=[_option(option) for option in job.options],
            role=str(job.role),
            node=job.role.node,
            nodes=job.nodes,
            node_script=job.role.node_script,
            steps=job.steps,
            job_dir=job.job_dir,
            work_dir=job.work_dir,
            python=job.python,
            config=os.path.join(job.job_dir, CONFIG),
        )
    )


def _option(option: str) -> str:
    """The option as a line of the script. Slurm splits such lines at spaces and reads quotes as a shell does."""
    if not any(letter in option for letter in " \t#'\"\\"):
        return option
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def load() -> None:
    """Loads the templates early. UsageError if Jinja2 is not installed."""
    for name in ("job.sh.j2", "node.sh.j2", "prime.sh.j2"):
        _environment().get_template(name)


@functools.cache
def _environment() -> "Environment":
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise UsageError(
            f"launch needs Jinja2, which is not installed (extra launch); run {install('launch')}"
        ) from None
    made = Environment(
        loader=PackageLoader("skyrl_train.launch"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=False,
        autoescape=False,  # noqa: S701 -- renders scripts, not HTML; the filter quote escapes
    )
    made.filters["quote"] = shlex.quote
    return made
