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
LIMIT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What one job asks of its partition."""

    role: Role
    partition: str | None
    time_limit: str
    nodes: int = 1


def refuse(config: RunConfig, roles: tuple[Role, ...], ask: Callable[[], str] | None = None) -> None:
    """UsageError if a job would never start. If Slurm does not list its partitions, sbatch decides."""
    try:
        output = (ask or _ask)()
    except slurm.SlurmError:
        return
    partitions = [dict(_WORD.findall(line)) for line in output.splitlines()]
    faults = [
        fault
        for request in _requests(config)
        if request.role in roles
        for fault in _faults(config, request, partitions)
    ]
    if faults:
        raise UsageError(f"nothing was submitted, because Slurm would never start it: {'; '.join(faults)}")


def _ask() -> str:
    return slurm.partitions(limit_s=LIMIT_S)


def _requests(config: RunConfig) -> Iterator[JobRequest]:
    own = config.slurm
    yield JobRequest(role=Role.RUNTIME, partition=own.cpu_partition, time_limit=own.runtime_time_limit)
    yield JobRequest(role=Role.TRAINER, partition=own.gpu_partition, time_limit=own.trainer_time_limit, nodes=own.nodes)


def _faults(config: RunConfig, request: JobRequest, partitions: list[dict[str, str]]) -> Iterator[str]:
    found = next((one for one in partitions if _is_selected(one, request.partition)), None)
    if found is None:
        return  # sbatch reports an unknown partition
    name, qos, account = found["PartitionName"], config.slurm.qos, config.slurm.account
    longest = _longest(found)
    if qos is None and longest is not None and (minutes(request.time_limit) or 0) > longest:  # a qos may allow more
        yield (
            f"slurm.{request.role}_time_limit = {request.time_limit}, but partition {name} allows at most {found['MaxTime']}"
        )
    if found.get("MaxNodes", "").isdigit() and request.nodes > int(found["MaxNodes"]):
        yield f"slurm.nodes = {request.nodes}, but partition {name} allows at most {found['MaxNodes']}"
    for key, value, allowed in (("account", account, "AllowAccounts"), ("qos", qos, "AllowQos")):
        several = found.get(allowed, "ALL")
        if value is not None and several != "ALL" and value not in several.split(","):
            yield f"slurm.{key} = {value!r} may not use partition {name}, which allows {several}"


def _is_selected(found: Mapping[str, str], name: str | None) -> bool:
    return found.get("Default") == "YES" if name is None else found.get("PartitionName") == name


def _longest(found: Mapping[str, str]) -> float | None:
    """The time limit in minutes, or None if there is none."""
    text = found.get("MaxTime", "")
    return None if text in _NO_LIMIT else minutes(text)
