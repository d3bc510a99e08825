"""What each job of a launch asks of its partition."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skyrl_train.config.run import RunConfig
from skyrl_train.launch.role import Role
from skyrl_train.launch.sbatch_variables import filled, spelling

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


@dataclass(frozen=True, slots=True)
class Choice:
    """A value and the setting or variable that chose it."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key} = {self.value!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """The size of one job, its time limit and its partition."""

    role: Role
    partition: Choice | None
    account: Choice | None
    qos: Choice | None
    time_limit: str
    memory_mib: int
    cpus: int
    nodes: int = 1
    gpus: int = 0
    gpu_type: str | None = None
    whole_node_because: str = ""
    """Why Slurm gives the job all GPUs of its node, whatever it asks for."""

    @property
    def gets_whole_node(self) -> bool:
        return bool(self.whole_node_because)


def job_requests(
    config: RunConfig, roles: tuple[Role, ...], variables: Mapping[str, str], *, has_own_options: bool
) -> Iterator[JobRequest]:
    """The jobs whose request [slurm] decides, with what sbatch's variables add. `has_own_options`: the trainer's options
    come from elsewhere.
    """
    for one in _all(config, variables):
        if one.role in roles and not (has_own_options and one.role is Role.TRAINER) and not _is_changed(config):
            yield one


def _all(config: RunConfig, variables: Mapping[str, str]) -> Iterator[JobRequest]:
    own = config.slurm
    open_names = {name for name, _ in filled(own.extra, variables)}
    used = {name: value for name, value in variables.items() if name in open_names}
    has_account = any(spelling(option) in ("--account", "-A") for option in own.extra)  # which comes later and wins
    account = None if has_account else _chosen("slurm.account", own.account, "SBATCH_ACCOUNT", used)
    qos = _chosen("slurm.qos", own.qos, "SBATCH_QOS", used)
    whole_node_because = "slurm.extra has --exclusive" if _WHOLE_NODE in own.extra else ""
    if used.get("SBATCH_EXCLUSIVE") in ("", "exclusive"):
        whole_node_because = "SBATCH_EXCLUSIVE is set"
    yield JobRequest(
        role=Role.RUNTIME,
        partition=_chosen("slurm.cpu_partition", own.cpu_partition, "SBATCH_PARTITION", used),
        account=account,
        qos=qos,
        time_limit=own.runtime_time_limit,
        memory_mib=own.runtime_memory_mib,
        cpus=own.runtime_cpus,
        whole_node_because=whole_node_because,
    )
    yield JobRequest(
        role=Role.TRAINER,
        partition=_chosen("slurm.gpu_partition", own.gpu_partition, "SBATCH_PARTITION", used),
        account=account,
        qos=qos,
        time_limit=own.trainer_time_limit,
        memory_mib=own.trainer_memory_mib,
        cpus=own.trainer_cpus,
        nodes=own.nodes,
        gpus=own.gpus_per_node,
        gpu_type=own.gpu_type,
        whole_node_because=whole_node_because,
    )


def _chosen(key: str, value: str | None, name: str, variables: Mapping[str, str]) -> Choice | None:
    if value is not None:
        return Choice(key, value)
    return Choice(name, variables[name]) if name in variables else None


def _is_changed(config: RunConfig) -> bool:
    """Whether slurm.extra, whose options come last, decides instead of ours."""
    return any(spelling(option) in _DECIDING for option in config.slurm.extra)


def unfit_options(config: RunConfig) -> Iterator[str]:
    """Options in slurm.extra, which both jobs get, with which a launch does not work."""
    for option in config.slurm.extra:
        if _ARRAY.match(option):
            yield f"slurm.extra has {option}, but a launch is one runtime and one trainer; remove it and launch several times"
        nodes = _NODES.match(option)
        if nodes and nodes[1] not in ("1", "1-1"):
            yield f"slurm.extra has {option}, which the runtime would get too; remove it and set slurm.nodes"
