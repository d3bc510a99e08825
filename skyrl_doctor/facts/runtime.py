"""A running runtime: where it is, what it answers, and what a few sandboxes of the doctor's own met there."""

import json
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of
from skyrl_doctor.machine.questions import Stat
from skyrl_doctor.machine.web import Fetched

NOBODY_LISTENS = "Connection refused"
PROBE_SESSION = "doctor-probe"
"""A session that nobody has: a good runtime knows none of this name."""


@record(kw_only=True)
class RuntimePlace:
    """`said_by` names the file, key or variable that the URL is from. `key_from` is what the machine takes the key from,
    "" for none; `key_file` is that file's stat, where it is a file that is there.
    """

    url: str
    said_by: str
    key_from: str = ""
    key_file: Stat | None = None

    @property
    def key_shown(self) -> str:
        kind, _, name = self.key_from.partition(" ")
        return {"file": name, "env": f"${name}"}.get(kind, "no key")


@record(kw_only=True)
class ReadyFlag:
    """A job directory's flag that a runtime is ready, and what came of asking that runtime."""

    path: str
    url: str
    health: Fetched

    @property
    def is_stale(self) -> bool:
        """Only where it is certain: that nothing came back may be the network's fault."""
        return self.health.status is None and self.health.why == NOBODY_LISTENS


@record(kw_only=True)
class RuntimeAnswers:
    """What it said: of its health, and of a session that nobody has, by three callers."""

    place: RuntimePlace
    health: Fetched
    with_key: Fetched
    with_wrong_key: Fetched

    @property
    def takes_any_key(self) -> bool:
        return self.with_wrong_key.status in (200, 404)


@record(kw_only=True)
class Canary:
    """What sandboxes of the doctor's own met. `failures` are causes with a sentence each; `wrong_key_refused` and
    `has_key` are None where that was not seen.
    """

    asked: int
    worked: int
    failures: tuple[tuple[str, str], ...] = ()
    start_s: tuple[float, ...] = ()
    has_key: bool | None = None
    server_version: str = ""
    wrong_key_refused: bool | None = None
    left: int = 0

    def of(self, *causes: str) -> tuple[str, ...]:
        """The sentences of these causes."""
        return tuple(text for cause, text in self.failures if cause in causes)

    @property
    def slowest_s(self) -> float:
        return max(self.start_s, default=0.0)


def parse_canary(text: str) -> Canary:
    """The answer of children/canary.py."""
    answer = answer_of(text, "canary")
    if "why" in answer:
        raise CouldNotLook(f"canary: {answer.text('why')}")
    return Canary(
        asked=int(answer.number("asked")),
        worked=int(answer.number("worked")),
        failures=tuple((row[0], row[1]) for row in answer.rows("failures", 2)),
        start_s=_seconds(text),
        has_key=answer.flag("has_key") if "has_key" in answer else None,
        server_version=answer.text("server_version"),
        wrong_key_refused=answer.flag("wrong_key_refused") if "wrong_key_refused" in answer else None,
        left=int(answer.number("left")),
    )


def _seconds(text: str) -> tuple[float, ...]:
    line = next(line for line in reversed(text.splitlines()) if line.startswith("{"))
    values: Any = json.loads(line).get("start_s")
    if not isinstance(values, list) or not all(type(value) in (int, float) and value >= 0 for value in values):
        raise CouldNotLook(f"canary: its answer has start_s = {str(values)[:80]!r}")
    return tuple(map(float, values))


@record
class SaidUrl:
    """A text that is to be the runtime's URL, and who says it."""

    said_by: str
    text: str


@record
class RuntimeUrls:
    """All that name the runtime's address: the configuration, the environment, the job directory."""

    said: tuple[SaidUrl, ...]
