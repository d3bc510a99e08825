"""All rules as one: an observation in, what is said out. The state of all of them is one mapping that JSON can hold."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.watch.finding import Said
from skyrl_doctor.watch.observations import Observation
from skyrl_doctor.watch.rules import (
    agent,
    checkpoints,
    collapse,
    fill,
    metrics,
    rechecks,
    refusals,
    resumed,
    sandboxes,
    signatures,
    stall,
    stops,
    wall,
)
from skyrl_doctor.watch.rules.progress import Progress

RULES = (
    signatures.RULE,
    refusals.RULE,
    stops.RULE,
    stall.RULE,
    metrics.RULE,
    agent.RULE,
    collapse.RULE,
    fill.RULE,
    sandboxes.RULE,
    rechecks.RULE,
    checkpoints.RULE,
    resumed.RULE,
    wall.RULE,
)
States = Mapping[str, Any]


def start() -> States:
    return {rule.name: rule.state() for rule in RULES}


def judge(states: States, seen: Observation) -> tuple[States, tuple[Said, ...]]:
    after: dict[str, Any] = {}
    said: tuple[Said, ...] = ()
    for rule in RULES:
        after[rule.name], more = rule.judge(states[rule.name], seen)
        said += more
    return after, said


def freeze(states: States) -> dict[str, Any]:
    """As JSON holds it."""
    return {name: dataclasses.asdict(state) for name, state in states.items()}


def thaw(data: Mapping[str, Any]) -> States:
    """What was frozen; a rule whose memory is of another version, or damaged, starts anew."""
    return {rule.name: _thawed(rule.state, data.get(rule.name)) for rule in RULES}


def _thawed(kind: type[Any], data: object) -> Any:
    if not isinstance(data, Mapping) or set(data) != {field.name for field in dataclasses.fields(kind)}:
        return kind()
    values = {name: _tupled(value) for name, value in data.items()}
    if "progress" in values:
        values["progress"] = _thawed(Progress, data["progress"])
    return kind(**values)


def _tupled(value: object) -> Any:
    if isinstance(value, list):
        return tuple(_tupled(part) for part in value)
    if isinstance(value, dict):
        return {name: _tupled(part) for name, part in value.items()}
    return value
