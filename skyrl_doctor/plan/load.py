"""Reads targets into one Plan. A dialect's module is imported when it is needed."""

from collections.abc import Mapping, Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.detect import detect_kind
from skyrl_doctor.plan.dialects.reading import Reading
from skyrl_doctor.plan.model import Plan, Problem, Value
from skyrl_doctor.plan.source import Source, read_source

SKYRL_KEYS = frozenset({"generator", "agent_cls"})
VERL_KEYS = frozenset({"actor_rollout_ref", "defaults", "critic", "algorithm"})


def load(machine: Machine, targets: Sequence[str], *, verl_version: str | None = None) -> Plan:
    """The plan of all targets. A later target overrides an earlier one; a default never overrides a written value."""
    readings = [read(machine, read_source(machine, target), verl_version) for target in targets]
    values: dict[str, Value] = {}
    own: dict[str, Value] = {}
    problems: list[Problem] = []
    for reading in readings:
        _merge(values, reading.values)
        _merge(own, reading.own)
        problems.extend(reading.problems)
    dialects = list(dict.fromkeys(reading.dialect for reading in readings))
    remaining = tuple(problem for problem in problems if not _is_set_elsewhere(problem, values))
    skipped = tuple(reading.skipped for reading in readings if reading.skipped)
    return Plan(tuple(targets), "+".join(dialects) or "none", values, own, remaining, skipped)


def read(machine: Machine, source: Source, verl_version: str | None = None) -> Reading:
    """Reads one target in its dialect."""
    match detect_kind(source):
        case "toml":
            return _read_toml(source)
        case "yaml":
            return _read_yaml(machine, source, verl_version)
        case "verl-command":
            from skyrl_doctor.plan.dialects.verl.read import read_command

            return read_command(machine, source, verl_version)
    from skyrl_doctor.plan.dialects import skyrl

    reading = skyrl.read_conf(machine, source)
    if not skyrl.is_conf(set(reading.own)):
        raise UsageError(
            f"target {source.file}: a shell script without a call of main_ppo and without dev.conf settings"
        )
    return reading


def _read_toml(source: Source) -> Reading:
    from skyrl_doctor.plan.dialects import prime, run_config
    from skyrl_doctor.plan.syntax.toml import parse
    from skyrl_train.config.dialect import prime_schema

    if prime_schema(parse(source)):
        return prime.read(source)
    return run_config.read(source)


def _read_yaml(machine: Machine, source: Source, verl_version: str | None) -> Reading:
    from skyrl_doctor.plan.dialects import skyrl
    from skyrl_doctor.plan.syntax.yaml import leaves

    first = {str(leaf.path[0]) for leaf in leaves(source)}
    if first & SKYRL_KEYS:
        return skyrl.read_task(source)
    if first & VERL_KEYS:
        from skyrl_doctor.plan.dialects.verl.read import read_yaml

        return read_yaml(machine, source, verl_version)
    raise UsageError(
        f"target {source.file}: unknown YAML; expected SkyRL-agent's keys (generator, agent_cls) or verl's (actor_rollout_ref, defaults)"
    )


def _merge(into: dict[str, Value], more: Mapping[str, Value]) -> None:
    for key, value in more.items():
        if value.written or key not in into or not into[key].written:
            into[key] = value


def _is_set_elsewhere(problem: Problem, values: Mapping[str, Value]) -> bool:
    """Whether the problem is a missing setting that another target sets."""
    found = values.get(problem.location.key or "")
    return problem.location.line is None and found is not None and found.written
