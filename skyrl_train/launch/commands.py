"""The commands that the jobs of a launch run, stored as launch.json in the job directory."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from skyrl_train.checkpoints.places import work_dir_of
from skyrl_train.config.load import from_resolved
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.typed import parse_object
from skyrl_train.launch import directory
from skyrl_train.launch.role import Role

FILE = "launch.json"
NO_RUNTIME = ""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The command of each job as an argument list.

    `runtime_url` is the address of a running runtime if the launch starts none, or NO_RUNTIME if the trainer needs none.
    """

    runtime: tuple[str, ...]
    trainer: tuple[str, ...]
    runtime_url: str | None = None
    logs: tuple[str, ...] = ()
    """Other directories in which the trainer's program writes logs."""
    work_dir: str = ""
    """The directory in which the jobs run: relative paths of the configuration begin there."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch, as its jobs read it from the job directory."""

    config: RunConfig
    commands: Commands
    ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def runtime_url(self) -> str | None:
        return self.commands.runtime_url

    def work_dir(self, job_dir: str) -> str:
        """The directory in which the jobs run."""
        return self.commands.work_dir or work_dir_of(job_dir)

    def payload(self, role: Role) -> tuple[str, ...]:
        return self.commands.runtime if role is Role.RUNTIME else self.commands.trainer


def default(python: str, config: RunConfig, job_dir: str, runtime_url: str | None) -> Commands:
    """Commands for our runtime, and for our trainer under the training interpreter."""
    trainer = config.python.interpreter or python
    return Commands(
        runtime=(python, "-m", "skyrl_train", "runtime", "serve", "--job-dir", job_dir),
        trainer=(trainer, "-m", "skyrl_train", "train", job_dir),
        runtime_url=runtime_url,
    )


def write(job_dir: str, commands: Commands) -> None:
    directory.write(job_dir, FILE, json.dumps(asdict(commands), indent=2) + "\n")


def read(job_dir: str) -> Launch:
    """Reads the launch of a job directory. UsageError if files are missing or damaged."""
    config = _parsed_file(job_dir, directory.RESOLVED, from_resolved)
    commands = _parsed_file(job_dir, FILE, _commands)
    return Launch(config, commands, directory.read_jobs(job_dir))


def _commands(text: str) -> Commands:
    found = parse_object(text, FILE)
    return Commands(
        runtime=found.texts("runtime"),
        trainer=found.texts("trainer"),
        runtime_url=found.text("runtime_url", None),
        logs=found.texts("logs", ()),
        work_dir=found.text("work_dir", ""),
    )


def _parsed_file(job_dir: str, name: str, parse: Callable[[str], T]) -> T:
    try:
        return parse(bounded.read_text(os.path.join(job_dir, name)))
    except OSError as error:
        raise UsageError(
            f"{job_dir} is not the job directory of a launch: cannot read {name}: {error.strerror}"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{job_dir} is not the job directory of a launch: {name} is damaged") from None
