"""The records that cross a process boundary. All are plain data that pickle and JSON can copy (AGT008, AGT009)."""

import functools
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.calls import Call, CallError
from skyrl_train.contracts.agent.limits import Limits
from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.agent.ports import Task
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Step, Transcript
from skyrl_train.contracts.rewards.score import Scored, Unscorable
from skyrl_train.contracts.rewards.suite_run import SuiteRun
from skyrl_train.contracts.tasks.rows import BadRow, TaskRow

PAYLOADS: tuple[type, ...] = (  # FIX(AGT008): data, and no live object
    Action,
    BadRow,
    Call,
    CallError,
    Counts,
    Limits,
    Message,
    Reply,
    Result,
    Scored,
    Step,
    SuiteRun,
    Task,
    TaskRow,
    Transcript,
    Unscorable,
)

T = TypeVar("T")


def to_json(payload: object) -> str:
    """The payload as one line of JSON. Infinite log-probabilities are written as Python's json module does."""
    return json.dumps(_adapter(type(payload)).dump_python(payload), ensure_ascii=False, separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """The payload that `to_json` wrote. ValueError if the text is invalid."""
    payload: T = _adapter(kind).validate_python(json.loads(text))
    return payload


def _adapter(kind: type) -> TypeAdapter[Any]:
    if kind not in PAYLOADS:
        raise TypeError(f"{kind.__qualname__} is not declared in {__name__}")
    return _adapters()[kind]


@functools.cache
def _adapters() -> Mapping[type, TypeAdapter[Any]]:
    return {kind: TypeAdapter(kind) for kind in PAYLOADS}
