"""What a partition does not give. Slurm takes most such jobs all the same, and leaves them in the queue for ever."""

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
class Asked:
    """What one job asks of its partition, and the key of the configuration for each."""

    role: Role
    partition: str | None
    time_limit: str
    nodes: int = 1


def refuse(config: RunConfig, roles: tuple[Role, ...], ask: Callable[[], str] | None = None) -> None:
    """UsageError where a job would never start. Where Slurm tells nothing of its partitions, sbatch has the word."""
    try:
        told = (ask or _ask)()
    except slurm.SlurmError:
        return
    partitions = [dict(_WORD.findall(line)) for line in told.splitlines()]
    faults = [fault for asked in _asked(config) if asked.role in roles for fault in _faults(config, asked, partitions)]
    if faults:
        raise UsageError(f"nothing was submitted, for Slurm would never start it: {'; '.join(faults)}")


def _ask() -> str:
    return slurm.partitions(limit_s=LIMIT_S)


def _asked(config: RunConfig) -> Iterator[Asked]:
    own = config.slurm
    yield Asked(role=Role.RUNTIME, partition=own.cpu_partition, time_limit=own.runtime_time_limit)
    yield Asked(role=Role.TRAINER, partition=own.gpu_partition, time_limit=own.trainer_time_limit, nodes=own.nodes)


def _faults(config: RunConfig, asked: Asked, partitions: list[dict[str, str]]) -> Iterator[str]:
    found = next((one for one in partitions if _is_meant(one, asked.partition)), None)
    if found is None:
        return  # sbatch says so, in Slurm's words
    name, qos, account = found["PartitionName"], config.slurm.qos, config.slurm.account
    longest = _longest(found)
    if qos is None and longest is not None and (minutes(asked.time_limit) or 0) > longest:  # a qos may give more
        yield (
            f"slurm.{asked.role}_time_limit = {asked.time_limit} is more than partition {name} gives ({found['MaxTime']})"
        )
    if found.get("MaxNodes", "").isdigit() and asked.nodes > int(found["MaxNodes"]):
        yield f"slurm.nodes = {asked.nodes} is more than partition {name} gives ({found['MaxNodes']})"
    for key, value, allowed in (("account", account, "AllowAccounts"), ("qos", qos, "AllowQos")):
        several = found.get(allowed, "ALL")
        if value is not None and several != "ALL" and value not in several.split(","):
            yield f"slurm.{key} = {value!r} may not use partition {name}, which takes {several}"


def _is_meant(found: Mapping[str, str], name: str | None) -> bool:
    return found.get("Default") == "YES" if name is None else found.get("PartitionName") == name


def _longest(found: Mapping[str, str]) -> float | None:
    """In minutes; None where it is not limited, or not told."""
    text = found.get("MaxTime", "")
    return None if text in _NO_LIMIT else minutes(text)
