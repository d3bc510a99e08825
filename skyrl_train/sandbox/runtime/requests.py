"""The requests of the server beside POST /start: their rules, and readers that refuse with status 400."""

from collections.abc import Mapping
from typing import Any, TypeVar

from skyrl_train.sandbox.request_rules import BodyRules, Rule, integer, text
from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.start_request import IMAGE, SESSION_ID, START, RequestError, StartRequest

T = TypeVar("T")
RESERVED = frozenset({"batch"})
"""Session ids that are routes of their own."""
_MOST_IDS = 500
_PREWARMED = "prewarmed"
"""In place of a session id: a prewarmed sandbox has none."""

RUNTIME_ID = SESSION_ID
CHANGE = BodyRules(required={"runtime_id": RUNTIME_ID})
"""/stop, /pause and /resume."""
PREWARM = BodyRules(
    required={"image": IMAGE}, optional={**START.optional, "count": integer(1, 1024)}, ignored=START.ignored
)
EVENT_NUMBER = text("the number of an event", pattern=r"[0-9]{1,15}")


def _ids(value: object) -> tuple[str, ...]:
    words = tuple(word for word in str(value).split(",") if word)
    if len(words) > _MOST_IDS:
        raise ValueError(f"expected at most {_MOST_IDS} ids, found {len(words)}")
    return words


IDS: Rule[tuple[str, ...]] = Rule(f"at most {_MOST_IDS} session ids with commas between them", {"type": "string"}, _ids)
BUILD_ID: Rule[str] = Rule("the id of a build", {"type": "string"}, str)
"""An id that no build has is answered with 404."""


def read_start(body: object) -> StartRequest:
    """Raises RefusedError, as all of these do."""
    values = read_body(START, body)
    if values["session_id"] in RESERVED:
        raise RefusedError(400, f"session_id: {values['session_id']!r} is reserved; choose another")
    return StartRequest(**values)


def read_prewarm(body: object) -> tuple[StartRequest, int]:
    """The sandbox, and how many."""
    values = {"count": 1, **read_body(PREWARM, body)}
    count: int = values.pop("count")
    return StartRequest(session_id=_PREWARMED, **values), count


def read_change(body: object) -> str:
    """The runtime id."""
    return str(read_body(CHANGE, body)["runtime_id"])


def read_body(rules: BodyRules, body: object) -> dict[str, Any]:
    try:
        return rules.read(body)
    except RequestError as error:
        raise RefusedError(400, str(error)) from error


def read_value(rule: Rule[T], name: str, values: Mapping[str, str], default: str = "") -> T:
    """A parameter of the path or the query."""
    try:
        return rule.read(name, values.get(name, default))
    except RequestError as error:
        raise RefusedError(400, str(error)) from error
