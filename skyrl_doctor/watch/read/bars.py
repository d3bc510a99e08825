"""Progress bars: `Generating rollouts:   0%|          | 0/8 [15:23<?, ?it/s]`."""

import re
from collections import deque

from skyrl_doctor.watch.observations import Bar

MOST_BARS = 48
"""Bars are redrawn often: the last ones in a piece of text give the current state."""
_BAR = re.compile(rb"/(\d{1,9}) \[(\d{1,6}(?::\d\d){1,2})<")
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_DONE = re.compile(rb"(?:^|[^\d])(\d{1,9})$")
_LABEL = re.compile(r"([A-Za-z][\w ()./-]{0,60}?):?\s*\d{1,3}%\|[^|]*\|\s*$|([A-Za-z][\w ()./-]{0,60}?):?\s*$")


def bars(text: bytes, at: float) -> list[Bar]:
    """The progress bars at the end of the text, the last of each label."""
    found: dict[str, Bar] = {}
    known: set[bytes] = set()
    for match in reversed(deque(_BAR.finditer(text), maxlen=MOST_BARS)):
        line = max(text.rfind(b"\n", 0, match.start()), text.rfind(b"\r", 0, match.start())) + 1
        before = _COLOUR.sub(b"", text[max(line, match.start() - 200) : match.start()])
        name = before.partition(b"%")[0].rstrip(b" 0123456789")
        done = _DONE.search(before) if name not in known else None
        if done is None:
            continue
        known.add(name)
        label = _label(before[: done.start(1)].decode("utf-8", "replace"))
        bar = Bar(at=at, label=label, done=int(done[1]), total=int(match[1]), elapsed_s=_seconds(match[2].decode()))
        found.setdefault(label, bar)
    return list(reversed(found.values()))


def _label(before: str) -> str:
    found = _LABEL.search(before)
    return (found[1] or found[2] or "").strip() if found else ""


def _seconds(text: str) -> float:
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return float(total)
