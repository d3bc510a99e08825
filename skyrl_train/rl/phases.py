"""The driver tells its watchman what it is about, and how long that may take: one line each on a pipe.

A watchman in a process of its own sees a driver that hangs, also one that hangs in C code and holds Python's lock.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from skyrl_train.contracts.typed import parse_object

VARIABLE = "SKYRL_PHASES_FD"
START, END = "start-up", "end"
"""The first, and the last of a driver that ends by its own will."""


@contextlib.contextmanager
def phase(name: str, limit_s: float) -> Iterator[None]:
    """Phases may stand in each other; each has its own limit."""
    begin(name, limit_s)
    try:
        yield
    finally:
        end(name)


def begin(name: str, limit_s: float) -> None:
    _say({"begin": name, "limit_s": limit_s})


def end(name: str) -> None:
    _say({"end": name})


def _say(what: dict[str, object]) -> None:
    descriptor = os.environ.get(VARIABLE, "")
    if descriptor:
        with contextlib.suppress(OSError):  # without a watchman nobody looks at the clock
            os.write(int(descriptor), (json.dumps(what) + "\n").encode())


@dataclass(slots=True)
class Clock:
    """The watchman's view: which phases are open, and until when."""

    ends: dict[str, float] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)

    def hear(self, line: str, now: float) -> None:
        said = parse_object(line, "a line of the driver's phases")
        if "begin" in said:
            name, limit_s = said.text("begin"), said.number("limit_s")
            self.limits[name] = limit_s
            self.ends[name] = now + limit_s
        else:
            self.ends.pop(said.text("end"), None)

    def late(self, now: float) -> str | None:
        """The phase that should have ended first."""
        passed = [(end, name) for name, end in self.ends.items() if now > end]
        return min(passed)[1] if passed else None
