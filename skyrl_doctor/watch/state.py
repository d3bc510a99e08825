"""What a watch must remember to go on after a kill: how far each log was read, and what the rules know."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.files import write_whole
from skyrl_doctor.watch.follow.tail import Mark
from skyrl_doctor.watch.policy import Case
from skyrl_doctor.watch.rules import all as rules

SCHEMA = 1


@record(kw_only=True)
class Memory:
    """`said` counts what was said of each key; it belongs to the same moment as the marks and the rules' states."""

    marks: tuple[Mark, ...] = ()
    states: Mapping[str, Any] = dataclasses.field(default_factory=rules.start)
    said: Mapping[str, int] = dataclasses.field(default_factory=dict)
    case: Case = dataclasses.field(default_factory=Case)
    begun_at: float | None = None


def save(path: str, memory: Memory) -> None:
    """OSError where the disk does not take it: then the old one stays."""
    data = {
        "schema": SCHEMA,
        "marks": [dataclasses.asdict(mark) for mark in memory.marks],
        "rules": rules.freeze(memory.states),
        "said": dict(memory.said),
        "case": dataclasses.asdict(memory.case),
        "begun_at": memory.begun_at,
    }
    write_whole(path, json.dumps(data))


def load(path: str) -> tuple[Memory, str]:
    """What was saved, and what was wrong with it. Without it, all is read again; the events say what was said."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except FileNotFoundError:
        return Memory(), ""
    except (OSError, ValueError) as error:
        return Memory(), f"{path}: {error}; all logs are read from their beginning"
    try:
        return _memory(data), ""
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return Memory(), f"{path} is damaged ({error!r}); all logs are read from their beginning"


def _memory(data: Any) -> Memory:
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']}")
    return Memory(
        marks=tuple(Mark(**mark) for mark in data["marks"]),
        states=rules.thaw(data["rules"]),
        said={str(key): int(count) for key, count in data["said"].items()},
        case=Case(**data["case"]),
        begun_at=data["begun_at"],
    )
