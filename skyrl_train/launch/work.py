"""A job at work: what it was told, what it runs, and what it depends on."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from skyrl_train.config.run import RunConfig
from skyrl_train.launch import slurm
from skyrl_train.launch.role import Role
from skyrl_train.launch.signals import Signals
from skyrl_train.node.hostlist import expand


class Followed(Protocol):
    """Something that the job needs while it runs."""

    def lost(self) -> str:
        """Why the job must end; nothing while it may go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One job at work."""

    role: Role
    job_dir: str
    config: RunConfig
    payload: tuple[str, ...]
    environ: Mapping[str, str]
    signals: Signals
    external_url: str | None = None
    """Of a runtime that this launch did not start; empty where the trainer needs none."""
    logs: tuple[str, ...] = ()
    node_script: str = ""
    """What makes this node's settings; nothing where each of several nodes takes its own."""

    @property
    def job_id(self) -> str:
        """Slurm's; nothing outside of it."""
        return slurm.own_id(self.environ)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Those of a trainer with several; none for a job of one node."""
        if self.role is Role.RUNTIME or self.config.slurm.nodes == 1:
            return ()
        return expand(self.environ.get("SLURM_JOB_NODELIST", ""))


def say(text: str) -> None:
    """A line in the job's log."""
    sys.stderr.write(f"skyrl-train job: {text}\n")
    sys.stderr.flush()
