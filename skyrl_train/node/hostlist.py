"""Parses Slurm's node lists, such as `gpu[01-03,7],cpu1`. Pure."""

import re
from collections.abc import Iterator

MOST = 100_000
_PART = re.compile(r"(?:[^,\[\]]|\[[0-9,\-]+\])+")
_RANGES = re.compile(r"\[([0-9,\-]+)\]")
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")


class NotAHostlist(ValueError):  # noqa: N818 -- reads better than NotAHostlistError
    """A text is not a node list in Slurm's format."""


def expand(text: str) -> tuple[str, ...]:
    """The node names in order, without duplicates. Raises NotAHostlist."""
    found: dict[str, None] = {}
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or (part.end() < len(text) and text[part.end()] != ","):
            raise NotAHostlist(f"{text[:80]!r} is not a Slurm node list")
        for name in _names(part[0].strip(), text):
            found[name] = None
            if len(found) > MOST:
                raise NotAHostlist(f"{text[:80]!r} names more than {MOST} nodes")
        at = part.end() + 1
    return tuple(found)


def _names(part: str, text: str) -> Iterator[str]:
    """The names of one part. Of several brackets, as in `rack[1-2]n[1-3]`, the last counts fastest."""
    ranges = _RANGES.search(part)
    if ranges is None:
        if part:
            yield part
        return
    head, tail = part[: ranges.start()], part[ranges.end() :]
    for piece in ranges[1].split(","):
        match = _RANGE.fullmatch(piece)
        if match is None or (match[2] and not int(match[1]) <= int(match[2]) <= int(match[1]) + MOST):
            raise NotAHostlist(f"{text[:80]!r} is not a Slurm node list")
        for number in range(int(match[1]), int(match[2] or match[1]) + 1):
            yield from _names(f"{head}{number:0{len(match[1])}d}{tail}", text)
