"""Parses the clock of a line. Year, day and zone may be missing: see `cause/timeline`."""

import re

from skyrl_doctor.core.record import record

_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
_DAY_S = 86400
HEAD = 400
"""The first bytes of a line, which hold its own clock."""
_NAMES = rb"Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
CLOCK = re.compile(
    rb"(?m)(?:\b(?<![\d/-])(?:(20\d\d)[-/])?([01]\d)[-/]([0-3]\d)[T _]"  # 2026-03-02 09:14:03,500 · 03-02 09:14:03 (vLLM) · 2026/03/02T09:14:03Z
    rb"|\[([01]\d)/([0-3]\d)/(2\d) "  # [03/02/26 09:14:03] (rich)
    rb"|\b[IWEF](1[0-2]|0?[1-9])([0-3]\d) {1,2}"  # E0302 09:14:03.500000 (glog) · [E302 09:14:03.5 (torch)
    rb"|\b([0-3]\d)/(" + _NAMES + rb")/(20\d\d):"  # 02/Mar/2026:09:14:03 +0100 (access logs)
    rb"|\b(" + _NAMES + rb") {1,2}(\d{1,2}) )"  # Mar  2 09:14:03 (syslog) · [Mon Mar  2 09:14:03 2026] (dmesg -T)
    rb"(\d\d):(\d\d):(\d\d(?:[.,]\d{1,9})?)(?: (20\d\d)\b)?(?: ?(Z|UTC|[+-]\d\d:?\d\d)(?![\d:]))?"
    rb"|^(?:\([^)\n]{1,80}\) )?(\d\d):(\d\d):(\d\d(?:[.,]\d{1,6})?)(?= - |\s{1,8}(?:INFO|ERROR|WARN|DEBUG|CRITICAL|SUCCESS|TRACE))"
    rb"""|(?:^\[?|["']?\b(?:ts|time|timestamp|asctime|created)["']?[=:] ?)(1[6-9]\d{8}(?:\.\d{1,9}|\d{3}(?!\d))?)(?=[\]\s,:}]|$)"""
)
"""The last two forms are a time of day without a date, and seconds or milliseconds since the epoch."""


@record
class Clock:
    """A clock: `second` of the day, `zone` in seconds east of UTC. None stands for a part that the line does not write."""

    year: int | None
    day: tuple[int, int] | None
    second: float
    zone: int | None


def parse_clock(found: re.Match[bytes]) -> Clock:
    """The clock in a match of CLOCK."""
    iso_year, iso_month, iso_day, us_month, us_day, us_year, log_month, log_day = found.groups()[:8]
    web_day, web_month, web_year, name, name_day, hour, minute, second, end_year, zone = found.groups()[8:18]
    bare_hour, bare_minute, bare_second, epoch = found.groups()[18:]
    if epoch:
        return _of_epoch(float(epoch))
    if bare_hour:
        return Clock(None, None, _second(bare_hour, bare_minute, bare_second), None)
    year = iso_year or web_year or end_year or (b"20" + us_year if us_year else None)
    named = name or web_month
    month = _MONTHS.index(named) + 1 if named else int(iso_month or us_month or log_month)
    day = int(iso_day or us_day or log_day or web_day or name_day)
    return Clock(int(year) if year else None, (month, day), _second(hour, minute, second), _zone(zone))


def first_clock(line: bytes) -> Clock | None:
    """The clock of the line itself, which comes before the clocks that it quotes."""
    found = CLOCK.search(line[:HEAD])
    return parse_clock(found) if found else None


def _second(hour: bytes, minute: bytes, second: bytes) -> float:
    return int(hour) * 3600 + int(minute) * 60 + float(second.replace(b",", b"."))


def _zone(text: bytes | None) -> int | None:
    if text is None:
        return None
    if text in (b"Z", b"UTC"):
        return 0
    east = int(text[1:3]) * 3600 + int(text[-2:]) * 60
    return -east if text.startswith(b"-") else east


def _of_epoch(number: float) -> Clock:
    days, second = divmod(number / 1000 if number > 1e11 else number, _DAY_S)
    year, month, day = _civil(int(days))
    return Clock(year, (month, day), second, 0)


def _civil(days: int) -> tuple[int, int, int]:
    """The date of a day, by its number since 1970-01-01."""
    era, of_era = divmod(days + 719468, 146097)
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (month <= 2), month, day
