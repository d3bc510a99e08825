"""Refuses jobs that their partition cannot run. Slurm accepts most such jobs and leaves them in the queue for ever."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from skyrl_train.config.run import RunConfig
from skyrl_train.config.walltime import minutes
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import slurm
from skyrl_train.launch.role import Role

_WORD = re.compile(r"(\w+)=(\S*)")
_NO_LIMIT = ("", "NONE", "UNLIMITED", "INFINITE")
_GPUS = re.compile(r"(?:^|,)gpu:(?:([^:,(]+):)?(\d{1,6})(?=[,(]|$)")
_ANY_GPU = re.compile(r"(?:^|,)gpu(?=[:,(]|$)")
_DECIDING = ("--partition", "-p", "--clusters", "-M", "--mem", "--cpus-per-task", "-c", "--gres", "--time", "-t")
"""Options in slurm.extra that replace ours."""
_MOST = 20
LIMIT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What one job asks of its partition."""

    role: Role
    partition: str | None
    time_limit: str
    memory_mib: int
    cpus: int
    nodes: int = 1
    gpus: int = 0
    gpu_type: str | None = None


def refuse(
    config: RunConfig,
    roles: tuple[Role, ...],
    ask: Callable[[], str] | None = None,
    ask_nodes: Callable[[str], str] | None = None,
    *,
    has_own_options: bool = False,
) -> None:
    """UsageError if a job would never start. If Slurm does not list its partitions, sbatch decides.

    `has_own_options`: the trainer's options do not come from [slurm], as in a prime-rl run.
    """
    judged = [one for one in _requests(config) if one.role in roles and not _is_changed(config, one, has_own_options)]
    faults = [fault for one in judged for fault in _contradictions(config, one)]
    try:
        output = (ask or _ask)()
    except slurm.SlurmError:
        output = ""
    partitions = [dict(_WORD.findall(line)) for line in output.splitlines()]
    for one in judged:
        absent = _unknown(one, partitions)
        found = next((each for each in partitions if _is_selected(each, one.partition)), None)
        faults += absent
        if not absent and found is not None:  # else sbatch decides
            faults += [*_faults(config, one, found), *_too_large(one, found["PartitionName"], ask_nodes or _ask_nodes)]
    if faults:
        raise UsageError(f"nothing was submitted, because Slurm would never start it: {'; '.join(faults)}")


def _ask() -> str:
    return slurm.partitions(limit_s=LIMIT_S)


def _requests(config: RunConfig) -> Iterator[JobRequest]:
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
    )


def _is_changed(config: RunConfig, request: JobRequest, has_own_options: bool) -> bool:  # noqa: FBT001
    """Whether other options than ours decide: those of prime-rl, or of slurm.extra, which come last."""
    names = (option.split("=")[0].split()[0] for option in config.slurm.extra if option.strip())
    return (has_own_options and request.role is Role.TRAINER) or any(name in _DECIDING for name in names)


def _contradictions(config: RunConfig, request: JobRequest) -> Iterator[str]:
    """Limits of the configuration that exclude each other."""
    limit_s = 60 * (minutes(request.time_limit) or 0)
    own = config.slurm
    if request.role is Role.TRAINER and 0 < limit_s <= own.signal_before_end_s:
        yield (
            f"slurm.signal_before_end_s = {own.signal_before_end_s}, but slurm.trainer_time_limit = {own.trainer_time_limit} "
            f"is only {limit_s:.0f} s, so the warning would come at once; use at most {max(0, int(limit_s / 2))}"
        )


def _unknown(request: JobRequest, partitions: list[dict[str, str]]) -> list[str]:
    """A partition that Slurm does not have. A user may name several, separated by commas."""
    names = [one["PartitionName"] for one in partitions if "PartitionName" in one]
    absent = [name for name in (request.partition or "").split(",") if name and name not in names]
    if not names or not absent:
        return []
    key = "slurm.cpu_partition" if request.role is Role.RUNTIME else "slurm.gpu_partition"
    return [f"{key} = {request.partition!r}, but Slurm has no partition {absent[0]}; it has {', '.join(names[:_MOST])}"]


def _too_large(request: JobRequest, partition: str, ask: Callable[[str], str]) -> Iterator[str]:
    """What no node of the partition has."""
    try:
        nodes = list(filter(None, map(_node, ask(partition).splitlines())))
    except slurm.SlurmError:
        return
    if not nodes:
        return
    role = request.role
    for key, asked, most in (
        (f"slurm.{role}_memory_mib", request.memory_mib, max(node.memory_mib for node in nodes)),
        (f"slurm.{role}_cpus", request.cpus, max(node.cpus for node in nodes)),
    ):
        if asked > most > 0:
            yield f"{key} = {asked}, but no node of partition {partition} has more than {most}"
    most_gpus = max(node.gpus(request.gpu_type) for node in nodes)
    if request.gpus > most_gpus and all(node.tells_gpus for node in nodes):
        kind = f" of type {request.gpu_type}" if request.gpu_type else ""
        yield f"slurm.gpus_per_node = {request.gpus}, but no node of partition {partition} has more than {most_gpus} GPUs{kind}"


@dataclass(frozen=True, slots=True)
class _Node:
    """What a node has in all, whoever uses it now."""

    memory_mib: int
    cpus: int
    gres: str

    @property
    def tells_gpus(self) -> bool:
        """Whether each entry of GPUs is one that we can read."""
        return len(_ANY_GPU.findall(self.gres)) == len(_GPUS.findall(self.gres))

    def gpus(self, kind: str | None) -> int:
        return sum(int(count) for name, count in _GPUS.findall(self.gres) if kind is None or name == kind)


def _node(line: str) -> _Node | None:
    """A line of `sinfo --Node --format=%m|%c|%G`."""
    words = line.strip().split("|", 2)
    if len(words) < 3 or not (words[0].rstrip("+").isdigit() and words[1].rstrip("+").isdigit()):
        return None
    return _Node(int(words[0].rstrip("+")), int(words[1].rstrip("+")), words[2])


def _ask_nodes(partition: str) -> str:
    return slurm.nodes_of(partition, limit_s=LIMIT_S)


def _faults(config: RunConfig, request: JobRequest, found: Mapping[str, str]) -> Iterator[str]:
    """What the rules of the partition do not allow."""
    name, qos, account = found["PartitionName"], config.slurm.qos, config.slurm.account
    longest = _longest(found)
    if qos is None and longest is not None and (minutes(request.time_limit) or 0) > longest:  # a qos may allow more
        yield (
            f"slurm.{request.role}_time_limit = {request.time_limit}, but partition {name} allows at most {found['MaxTime']}"
        )
    has, most, least = (_count(found, key) for key in ("TotalNodes", "MaxNodes", "MinNodes"))
    if request.nodes > (has or request.nodes):  # 0 where a cloud adds nodes
        yield f"slurm.nodes = {request.nodes}, but partition {name} has {has}"
    elif most is not None and request.nodes > most:
        yield f"slurm.nodes = {request.nodes}, but partition {name} allows at most {most}"
    if least is not None and request.nodes < least and qos is None:
        yield f"slurm.nodes = {request.nodes}, but partition {name} allows no fewer than {least}"
    for key, value, allowed in (("account", account, "AllowAccounts"), ("qos", qos, "AllowQos")):
        several = found.get(allowed, "ALL")
        if value is not None and several != "ALL" and value not in several.split(","):
            yield f"slurm.{key} = {value!r} may not use partition {name}, which allows {several}"


def _count(found: Mapping[str, str], key: str) -> int | None:
    text = found.get(key, "")
    return int(text) if text.isdigit() else None


def _is_selected(found: Mapping[str, str], name: str | None) -> bool:
    return found.get("Default") == "YES" if name is None else found.get("PartitionName") == name


def _longest(found: Mapping[str, str]) -> float | None:
    """The time limit in minutes, or None if there is none."""
    text = found.get("MaxTime", "")
    return None if text in _NO_LIMIT else minutes(text)
