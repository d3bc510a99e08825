"""All rules as one: an observation in, updates out. Their states are one mapping that JSON can hold."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.watch.finding import Update
from skyrl_doctor.watch.observations import Observation
from skyrl_doctor.watch.rules import (
    agent,
    checkpoints,
    fill,
    metrics,
    proofs,
    rechecks,
    refusals,
    resumed,
    sandboxes,
    signatures,
    stall,
    stops,
    trends,
    wall,
)
from skyrl_doctor.watch.rules.progress import Progress

RULES = (
    signatures.RULE,
    refusals.RULE,
    stops.RULE,
    stall.RULE,
    metrics.RULE,
    proofs.RULE,
    agent.RULE,
    trends.RULE,
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


def judge(states: States, observation: Observation) -> tuple[States, tuple[Update, ...]]:
    after: dict[str, Any] = {}
    updates: tuple[Update, ...] = ()
    for rule in RULES:
        after[rule.name], more = rule.judge(states[rule.name], observation)
        updates += more
    return after, updates


def freeze(states: States) -> dict[str, Any]:
    """The states as JSON types."""
    return {name: dataclasses.asdict(state) for name, state in states.items()}


def thaw(data: Mapping[str, Any]) -> States:
    """The frozen states. A rule whose state is damaged or of another version starts anew."""
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
