"""The settings of a supervised job, and the interface of what it depends on."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.screen import print_note
from skyrl_train.launch import slurm
from skyrl_train.launch.role import Role
from skyrl_train.launch.signals import Signals
from skyrl_train.node.hostlist import expand


class Followed(Protocol):
    """Something that the job needs while it runs."""

    def lost(self) -> str:
        """Why the job must end, or an empty text while it may continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One supervised job."""

    role: Role
    job_dir: str
    config: RunConfig
    payload: tuple[str, ...]
    environ: Mapping[str, str]
    signals: Signals
    external_url: str | None = None
    """Address of a runtime that this launch did not start; empty if the trainer needs none."""
    logs: tuple[str, ...] = ()
    log_start: int = 0
    """The size of the job's log when this turn of the job began."""
    started_at: float = 0.0
    """When this turn of the job began, in seconds since the epoch."""
    node_script: str = ""
    """The script that makes this node's settings; empty for several nodes, where each part runs its own."""

    @property
    def job_id(self) -> str:
        """The Slurm job id, empty outside Slurm."""
        return slurm.own_id(self.environ)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of a trainer with several nodes; empty for a job on one node."""
        if self.role is Role.RUNTIME or self.config.slurm.nodes == 1:
            return ()
        return expand(self.environ.get("SLURM_JOB_NODELIST", ""))


def say(text: str) -> None:
    """Writes a line to the job's log."""
    print_note(f"skyrl-train job: {text}")
    sys.stderr.flush()
