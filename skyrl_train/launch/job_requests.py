"""What each job of a launch asks of its partition."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skyrl_train.config.run import RunConfig
from skyrl_train.launch.role import Role

_DECIDING = (
    "--partition",
    "-p",
    "--clusters",
    "-M",
    "--mem",
    "--cpus-per-task",
    "-c",
    "--gres",
    "--time",
    "-t",
    "--qos",
    "-q",
)
"""Options in slurm.extra that replace ours."""
_WHOLE_NODE = "--exclusive"
_ARRAY, _NODES = re.compile(r"--array\b|-a"), re.compile(r"(?:--nodes[ =]|-N[ =]?)(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """The size of one job, its time limit and its partition."""

    role: Role
    partition: str | None
    time_limit: str
    memory_mib: int
    cpus: int
    nodes: int = 1
    gpus: int = 0
    gpu_type: str | None = None
    gets_whole_node: bool = False
    """Slurm gives the job all GPUs of its node, whatever it asks for."""


def job_requests(config: RunConfig, roles: tuple[Role, ...], *, has_own_options: bool) -> Iterator[JobRequest]:
    """The jobs whose request [slurm] decides. `has_own_options`: the trainer's options come from elsewhere."""
    for one in _all(config):
        if one.role in roles and not (has_own_options and one.role is Role.TRAINER) and not _is_changed(config):
            yield one


def _all(config: RunConfig) -> Iterator[JobRequest]:
    own = config.slurm
    yield JobRequest(
        role=Role.RUNTIME,
        partition=own.cpu_partition,
        time_limit=own.runtime_time_limit,
        memory_mib=own.runtime_memory_mib,
        cpus=own.runtime_cpus,
    )
    yield JobRequest(
        role=Role.TRAINER,
        partition=own.gpu_partition,
        time_limit=own.trainer_time_limit,
        memory_mib=own.trainer_memory_mib,
        cpus=own.trainer_cpus,
        nodes=own.nodes,
        gpus=own.gpus_per_node,
        gpu_type=own.gpu_type,
        gets_whole_node=_WHOLE_NODE in own.extra,
    )


def _is_changed(config: RunConfig) -> bool:
    """Whether slurm.extra, whose options come last, decides instead of ours."""
    return any(option.split("=")[0].split()[0] in _DECIDING for option in config.slurm.extra if option.strip())


def unfit_options(config: RunConfig) -> Iterator[str]:
    """Options in slurm.extra, which both jobs get, with which a launch does not work."""
    for option in config.slurm.extra:
        if _ARRAY.match(option):
            yield f"slurm.extra has {option}, but a launch is one runtime and one trainer; remove it and launch several times"
        nodes = _NODES.match(option)
        if nodes and nodes[1] not in ("1", "1-1"):
            yield f"slurm.extra has {option}, which the runtime would get too; remove it and set slurm.nodes"
