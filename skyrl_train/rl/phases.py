"""The driver reports its phases and their time limits to the watchman, one line each on a pipe.

The watchman is a separate process, so it detects a driver that hangs, even in C code that holds Python's lock.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from skyrl_train.contracts.typed import parse_object

VARIABLE = "SKYRL_PHASES_FD"
START, END = "start-up", "end"
"""The first phase, and the last phase of a driver that ends by itself."""


@contextlib.contextmanager
def phase(name: str, limit_s: float) -> Iterator[None]:
    """Marks a phase. Phases may be nested; each has its own time limit."""
    begin(name, limit_s)
    try:
        yield
    finally:
        end(name)


def begin(name: str, limit_s: float) -> None:
    _report({"begin": name, "limit_s": limit_s})


def end(name: str) -> None:
    _report({"end": name})


def _report(what: dict[str, object]) -> None:
    descriptor = os.environ.get(VARIABLE, "")
    if descriptor:
        with contextlib.suppress(OSError):  # the watchman may have ended
            os.write(int(descriptor), (json.dumps(what) + "\n").encode())


@dataclass(slots=True)
class Clock:
    """The open phases and their deadlines, as the watchman knows them."""

    ends: dict[str, float] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)

    def hear(self, line: str, now: float) -> None:
        message = parse_object(line, "a line of the driver's phases")
        if "begin" in message:
            name, limit_s = message.text("begin"), message.number("limit_s")
            self.limits[name] = limit_s
            self.ends[name] = now + limit_s
        else:
            self.ends.pop(message.text("end"), None)

    def late(self, now: float) -> str | None:
        """The overdue phase with the earliest deadline, or None."""
        passed = [(end, name) for name, end in self.ends.items() if now > end]
        return min(passed)[1] if passed else None
