"""What a new watch needs after a kill of the old one: how far each log was read, and the rules' states."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.files import write_whole
from skyrl_doctor.watch.follow.tail import Mark
from skyrl_doctor.watch.policy import Case
from skyrl_doctor.watch.rules import all as rules
from skyrl_train.contracts import bounded

SCHEMA = 1


@record(kw_only=True)
class Memory:
    """`reported` counts the updates of each key, at the same moment as the marks and the rules' states."""

    marks: tuple[Mark, ...] = ()
    states: Mapping[str, Any] = dataclasses.field(default_factory=rules.start)
    reported: Mapping[str, int] = dataclasses.field(default_factory=dict)
    case: Case = dataclasses.field(default_factory=Case)
    begun_at: float | None = None


def save(path: str, memory: Memory) -> None:
    """Saves the state; an OSError leaves the old one in place."""
    data = {
        "schema": SCHEMA,
        "marks": [dataclasses.asdict(mark) for mark in memory.marks],
        "rules": rules.freeze(memory.states),
        "said": dict(memory.reported),
        "case": dataclasses.asdict(memory.case),
        "begun_at": memory.begun_at,
    }
    write_whole(path, json.dumps(data))


def load(path: str) -> tuple[Memory, str]:
    """The saved state, and what is wrong with it. Without it all logs are read again; the events hold what was reported."""
    try:
        data = json.loads(bounded.read_text(path))
    except FileNotFoundError:
        return Memory(), ""
    except (OSError, ValueError, RecursionError) as error:
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
        reported={str(key): int(count) for key, count in data["said"].items()},
        case=Case(**data["case"]),
        begun_at=data["begun_at"],
    )
