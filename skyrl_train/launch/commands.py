"""What the jobs of a launch run, kept in its directory: launch.json."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from skyrl_train.config.load import from_resolved
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.typed import parse_object
from skyrl_train.launch import directory
from skyrl_train.launch.role import Role

FILE = "launch.json"
NO_RUNTIME = ""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The payload of each job as an argument list, and a runtime that runs already, where the launch starts none: its
    address, or NO_RUNTIME where the trainer needs none."""

    runtime: tuple[str, ...]
    trainer: tuple[str, ...]
    runtime_url: str | None = None
    logs: tuple[str, ...] = ()
    """Directories elsewhere, in which the trainer's program keeps logs of its own."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch as its jobs read it."""

    config: RunConfig
    commands: Commands
    ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def runtime_url(self) -> str | None:
        return self.commands.runtime_url

    def payload(self, role: Role) -> tuple[str, ...]:
        return self.commands.runtime if role is Role.RUNTIME else self.commands.trainer


def default(python: str, config: RunConfig, job_dir: str, runtime_url: str | None) -> Commands:
    """Our own runtime, and our own trainer under the training interpreter."""
    trainer = config.python.interpreter or python
    return Commands(
        runtime=(python, "-m", "skyrl_train", "runtime", "serve", "--job-dir", job_dir),
        trainer=(trainer, "-m", "skyrl_train", "train", job_dir),
        runtime_url=runtime_url,
    )


def write(job_dir: str, commands: Commands) -> None:
    directory.write(job_dir, FILE, json.dumps(asdict(commands), indent=2) + "\n")


def read(job_dir: str) -> Launch:
    """UsageError, of one line, where the directory is none of a launch or half of one."""
    config = _kept(job_dir, directory.RESOLVED, from_resolved)
    commands = _kept(job_dir, FILE, _commands)
    return Launch(config, commands, directory.read_jobs(job_dir))


def _commands(text: str) -> Commands:
    found = parse_object(text, FILE)
    return Commands(
        runtime=found.texts("runtime"),
        trainer=found.texts("trainer"),
        runtime_url=found.text("runtime_url", None),
        logs=found.texts("logs", ()),
    )


def _kept(job_dir: str, name: str, parse: Callable[[str], T]) -> T:
    try:
        with open(os.path.join(job_dir, name), encoding="utf-8") as file:
            return parse(file.read())
    except OSError as error:
        raise UsageError(f"{job_dir} is no directory of a launch: {name}: {error.strerror}") from None
    except ValueError:
        raise UsageError(
            f"{job_dir} is no directory of a launch, or a damaged one: {name} is not what was written"
        ) from None
