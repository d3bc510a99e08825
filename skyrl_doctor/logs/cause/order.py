"""The order of lines of several files: by their clocks if all have one, else by component; in one file by line number."""

import re
from collections.abc import Iterable

from skyrl_doctor.logs.cause.timeline import Placed, instants
from skyrl_doctor.logs.judge.lines import Line

_COMPONENTS = (
    re.compile(r"runtime|sandbox|podman|agent.?server|api_server", re.IGNORECASE),
    re.compile(r"vllm|inference|engine", re.IGNORECASE),
    re.compile(r"raylet|worker|gcs_server|ray", re.IGNORECASE),
)
"""Where clocks are missing, a component comes before those that depend on it."""


class Order:
    """The order of the lines of one job. `site_s` is the zone of logs that write none, in seconds east of UTC."""

    def __init__(self, lines: Iterable[Placed], *, site_s: int = 0) -> None:
        self._when = instants(lines, site_s=site_s)

    def sort(self, lines: Iterable[Line]) -> list[Line]:
        """The lines, the earliest first."""
        some = list(lines)
        clocked = all(self._instant(line) is not None for line in some)
        return sorted(some, key=lambda line: (self._rank(line, clocked=clocked), line.order, line.number))

    def before(self, line: Line, other: Placed, *, unless_clocked: bool) -> bool:
        """Whether a line is earlier than another one; `unless_clocked` is the result where a clock is missing."""
        if line.file == other.file:
            return line.number < other.number
        one, two = self._instant(line), self._instant(other)
        return unless_clocked if one is None or two is None else one <= two

    def _instant(self, line: Placed) -> float | None:
        return self._when.get((line.file, line.number))

    def _rank(self, line: Line, *, clocked: bool) -> tuple[float, int]:
        rank = component(line.file)
        return (self._when[line.file, line.number], rank) if clocked else (0.0, rank)


def component(file: str) -> int:
    """The rank of the component that wrote the file; the lowest comes first."""
    name = file.rpartition("/")[2]
    return next((rank for rank, names in enumerate(_COMPONENTS) if names.search(name)), len(_COMPONENTS))
