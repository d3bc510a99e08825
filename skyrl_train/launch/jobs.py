"""The Slurm options of the two jobs, computed from the configuration."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skyrl_train.config.run import RunConfig
from skyrl_train.launch import steps
from skyrl_train.launch.directory import log
from skyrl_train.launch.role import Role
from skyrl_train.launch.sbatch_variables import filled

_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job: its sbatch options in order, and its directories."""

    role: Role
    options: tuple[str, ...]
    job_dir: str
    work_dir: str
    python: str
    nodes: int = 1
    steps: tuple[str, ...] = ()
    """The command lines that run on each node of a job with several nodes."""


def jobs(
    config: RunConfig,
    *,
    job_dir: str,
    work_dir: str,
    python: str,
    trainer: Sequence[str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> tuple[Job, Job]:
    """The runtime's job and the trainer's. `trainer` replaces the options that the configuration gives. `variables` are
    sbatch's, which add what both leave open.
    """
    return tuple(  # type: ignore[return-value]  # one job for each role
        Job(
            role=role,
            options=(*options, *(option for _, option in filled(options, variables or {}))),
            job_dir=job_dir,
            work_dir=work_dir,
            python=python,
            **_several(config, role, job_dir, python),
        )
        for role, options in own_options(config, job_dir, trainer).items()
    )


def own_options(config: RunConfig, job_dir: str, trainer: Sequence[str] | None) -> dict[Role, tuple[str, ...]]:
    """The options of each job without those of sbatch's variables."""
    made = (_runtime_options(config), _trainer_options(config) if trainer is None else trainer)
    return {
        role: (*_common(config, role, job_dir), *options, *config.slurm.extra)
        for role, options in zip(Role, made, strict=True)
    }


def _several(config: RunConfig, role: Role, job_dir: str, python: str) -> "dict[str, Any]":
    if role is Role.RUNTIME or config.slurm.nodes == 1:
        return {}
    made = (steps.check(config, job_dir, python), steps.train(config, job_dir, python))
    return {"nodes": config.slurm.nodes, "steps": tuple(map(shlex.join, made))}


def _common(config: RunConfig, role: Role, job_dir: str) -> list[str]:
    logs = job_dir.replace("%", "%%")  # Slurm replaces %j and similar patterns anywhere in the path
    slurm = config.slurm
    name = _NAME.sub("-", config.trainer.experiment)[:40]
    partition = slurm.cpu_partition if role is Role.RUNTIME else slurm.gpu_partition
    # FIX(SLM002)
    named = {"partition": partition, "account": slurm.account, "qos": slurm.qos, "exclude": ",".join(slurm.exclude)}
    return [
        f"--job-name=skyrl-{role}-{name}",
        f"--comment={job_dir}",
        f"--output={os.path.join(logs, log(role, '%j', 'out'))}",
        f"--error={os.path.join(logs, log(role, '%j', 'err'))}",
        "--open-mode=append",
        *(f"--{option}={value}" for option, value in named.items() if value),
    ]


def _runtime_options(config: RunConfig) -> list[str]:
    slurm = config.slurm
    return [
        "--nodes=1",
        "--ntasks=1",
        f"--cpus-per-task={slurm.runtime_cpus}",
        f"--mem={slurm.runtime_memory_mib}M",
        f"--time={slurm.runtime_time_limit}",
        "--no-requeue",
    ]


def _trainer_options(config: RunConfig) -> list[str]:
    slurm = config.slurm
    gres = f"gpu:{slurm.gpu_type}:{slurm.gpus_per_node}" if slurm.gpu_type else f"gpu:{slurm.gpus_per_node}"
    options = [
        f"--nodes={slurm.nodes}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={slurm.trainer_cpus}",
        f"--mem={slurm.trainer_memory_mib}M",
        f"--gres={gres}",
        f"--time={slurm.trainer_time_limit}",
        "--requeue" if slurm.requeue else "--no-requeue",
    ]
    if slurm.signal_before_end_s:
        options.append(f"--signal=B:USR1@{slurm.signal_before_end_s}")
    return options
