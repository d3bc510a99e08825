"""Refuses jobs that their partition cannot run. Slurm accepts most such jobs and leaves them in the queue for ever."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from skyrl_train.config.run import RunConfig
from skyrl_train.config.walltime import minutes
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import account_rules, node_sizes, slurm
from skyrl_train.launch.account_rules import Controller, Objection
from skyrl_train.launch.job_requests import Choice, JobRequest, job_requests, unfit_options
from skyrl_train.launch.role import Role

_WORD = re.compile(r"(\w+)=(\S*)")
_NO_LIMIT = ("", "NONE", "UNLIMITED", "INFINITE")
_CLOSED = ("INACTIVE", "DRAIN")
_MOST = 20
LIMIT_S = 5.0


def refuse(
    config: RunConfig,
    roles: tuple[Role, ...],
    ask: Callable[[], str] | None = None,
    ask_nodes: Callable[[str], str] | None = None,
    ask_controller: Callable[[], Controller] = account_rules.ask_controller,
    *,
    variables: Mapping[str, str] | None = None,
    has_own_options: bool = False,
    judges_slices: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """UsageError if a job would never start. If Slurm does not list its partitions, sbatch decides.

    `has_own_options`: the trainer's options do not come from [slurm], as in a prime-rl run. `judges_slices`: refuse what
    only fails on the node, which gives the trainer several MIG slices.
    """
    judged = list(job_requests(config, roles, variables or {}, has_own_options=has_own_options))
    faults = [fault for one in judged for fault in _contradictions(config, one)]
    try:
        output = (ask or _ask)()
    except slurm.SlurmError:
        output = ""
    partitions = [dict(_WORD.findall(line)) for line in output.splitlines()]
    useless = list(unfit_options(config))
    for one in judged:
        absent = _unknown(one, partitions)
        found = [] if absent else _selected(partitions, one.partition)
        nodes = {rules["PartitionName"]: _nodes(rules["PartitionName"], ask_nodes or _ask_nodes) for rules in found}
        objections = [list(account_rules.objections(rules, one.account, one.qos, ask_controller)) for rules in found]
        each = [
            [*_faults(one, rules), *node_sizes.too_large(one, *pair), *_certain(objecting)]
            for rules, pair, objecting in zip(found, nodes.items(), objections, strict=True)
        ]
        faults += absent
        if each and all(each):  # Slurm takes any partition of a list; without rules sbatch decides
            faults += each[0]
        elif each and all(each[number] or objections[number] for number in range(len(each))):
            doubtful = next(objection for some in objections for objection in some if objection.doubt)
            say(f"the {one.role} job may wait for ever: {doubtful.text} ({doubtful.doubt})")
        elif found and all(rules.get("State") == "DOWN" for rules in found):
            say(f"the {one.role} job will wait, because partition {found[0]['PartitionName']} is DOWN")
        slices = [node_sizes.several_slices(one, *pair) for pair in nodes.items()] if judges_slices else []
        useless += slices[:1] if all(slices) else []
    if faults:
        raise UsageError(
            f"nothing was submitted, because Slurm would never start it: {'; '.join(dict.fromkeys(faults))}"
        )
    if useless:
        raise UsageError(f"nothing was submitted: {'; '.join(dict.fromkeys(useless))}")


def _ask() -> str:
    return slurm.partitions(limit_s=LIMIT_S)


def _ask_nodes(partition: str) -> str:
    return slurm.nodes_of(partition, limit_s=LIMIT_S)


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
    asked = request.partition.value if request.partition else ""
    absent = [name for name in asked.split(",") if name and name not in names]
    if not names or not absent:
        return []
    return [f"{request.partition}, but Slurm has no partition {absent[0]}; it has {', '.join(names[:_MOST])}"]


def _nodes(partition: str, ask: Callable[[str], str]) -> list[node_sizes.Node]:
    try:
        return node_sizes.parse_nodes(ask(partition))
    except slurm.SlurmError:
        return []


def _faults(request: JobRequest, found: Mapping[str, str]) -> Iterator[str]:
    """What the rules of the partition do not allow."""
    name, qos = found["PartitionName"], request.qos
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
    if found.get("State") in _CLOSED and found.get("Alternate", "NONE") == "NONE":  # else Slurm takes that one
        yield f"partition {name} is {found['State']}"
    for key, asked, limit in (
        ("memory_mib", request.memory_mib, "MaxMemPerNode"),
        ("cpus", request.cpus, "MaxCPUsPerNode"),
    ):
        top = _count(found, limit)
        if top is not None and 0 < top < asked:
            yield f"slurm.{request.role}_{key} = {asked}, but partition {name} allows at most {top} on a node ({limit})"


def _certain(objections: Sequence[Objection]) -> list[str]:
    return [one.text for one in objections if not one.doubt]


def _count(found: Mapping[str, str], key: str) -> int | None:
    text = found.get(key, "")
    return int(text) if text.isdigit() else None


def _selected(partitions: list[dict[str, str]], named: Choice | None) -> list[dict[str, str]]:
    """The rules of the partitions that a job names; of the default one if it names none."""
    if named is None:
        return [one for one in partitions if one.get("Default") == "YES"][:1]
    return [one for one in partitions if one.get("PartitionName") in named.value.split(",")]


def _longest(found: Mapping[str, str]) -> float | None:
    """The time limit in minutes, or None if there is none."""
    text = found.get("MaxTime", "")
    return None if text in _NO_LIMIT else minutes(text)
