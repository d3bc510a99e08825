"""The clock of a line. Years are left out, for vLLM writes none; so are zones: a job's logs are of one site."""

import re

Clock = tuple[int, int, int, int, float]
"""Month, day, hour, minute, second."""

_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
CLOCK = re.compile(
    rb"\b(?:(?:20\d\d[-/])?([01]\d)[-/]([0-3]\d)[T _]"  # 2026-03-02 09:14:03,500 · 03-02 09:14:03 (vLLM) · 2026/03/02T09:14:03Z
    rb"|[IWEF]([01]\d)([0-3]\d) {1,2}"  # E0302 09:14:03.500000 (torch, absl)
    rb"|(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}) )"  # Mar  2 09:14:03 (syslog, dmesg -T)
    rb"(\d\d):(\d\d):(\d\d(?:[.,]\d{1,9})?)"
)


def clock_of(found: re.Match[bytes]) -> Clock:
    """The clock in a match of CLOCK."""
    iso_month, iso_day, log_month, log_day, name, name_day, hour, minute, second = found.groups()
    month = _MONTHS.index(name) + 1 if name else int(iso_month or log_month)
    day = int(iso_day or log_day or name_day)
    return (month, day, int(hour), int(minute), float(second.replace(b",", b".")))
