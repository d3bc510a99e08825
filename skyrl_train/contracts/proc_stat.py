"""Parses /proc/PID/stat (see proc(5)).

Programs that run inside a sandbox cannot import this package and have a parser of their own: one in sandboxd, one in
the agent's tools.
"""

from typing import NamedTuple

_LONGEST = 16 << 10
_PARENT, _GROUP, _SESSION, _FLAGS, _STARTED, _ENV_END = 1, 2, 3, 6, 19, 48
"""Counted from the state, which is field 3 of proc(5)."""
_KERNEL, _EXITING = 0x00200000, 0x00000004
ABSENT = -1


class ProcessStat(NamedTuple):
    """One process. A number is ABSENT where the line is shorter than Linux writes it."""

    name: str
    """At most 15 bytes; it may hold blanks and parentheses."""
    state: str
    """One letter, such as R, S, T or Z."""
    parent: int
    group: int = ABSENT
    session: int = ABSENT
    flags: int = ABSENT
    started: int = ABSENT
    """Clock ticks after the boot of the machine."""
    env_end: int = ABSENT
    """The end address of the environment; 0 while the program is being loaded, and for threads of the kernel."""

    @property
    def is_dead(self) -> bool:
        """Whether it has ended and only waits for its parent."""
        return self.state in ("Z", "X")

    @property
    def is_loading(self) -> bool:
        """Whether its program is being loaded: it has no environment yet and is no thread of the kernel."""
        return self.env_end == 0 and not self.is_dead and not self.flags & (_KERNEL | _EXITING)


def parse_stat(text: str | bytes) -> ProcessStat:
    """Raises ValueError. The name ends at the last parenthesis of the line."""
    line = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    before, closed, after = line.rpartition(")")
    fields = after.split()
    if len(line) > _LONGEST or not closed or len(fields) <= _PARENT or len(fields[0]) != 1:
        raise ValueError(f"not a line of /proc/PID/stat: {line[:80]!r}")
    try:
        numbers = [_number(fields, at) for at in (_PARENT, _GROUP, _SESSION, _FLAGS, _STARTED, _ENV_END)]
    except ValueError:
        raise ValueError(f"not a line of /proc/PID/stat: {line[:80]!r}") from None
    return ProcessStat(before.partition("(")[2], fields[0], *numbers)


def _number(fields: list[str], at: int) -> int:
    if at >= len(fields):
        return ABSENT
    if not (fields[at].isascii() and fields[at].isdecimal() and len(fields[at]) <= 20):
        raise ValueError
    return int(fields[at])
