"""The clock of a line. Years are left out, for vLLM writes none; so are zones: a job's logs are of one site."""

import re

Clock = tuple[int, int, int, int, float]
"""Month, day, hour, minute, second."""

_CLOCK = re.compile(rb"\b(?:20\d\d[-/])?(\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d(?:[.,]\d{1,9})?)")


def last_clock(text: bytes) -> Clock | None:
    """The last one in the text."""
    end = len(text)
    while end > 0:
        start = text.rfind(b"\n", 0, end) + 1
        found = _CLOCK.search(text, start, end)
        if found is not None:
            month, day, hour, minute = (int(part) for part in found.groups()[:4])
            return (month, day, hour, minute, float(found[5].replace(b",", b".")))
        end = start - 1
    return None
