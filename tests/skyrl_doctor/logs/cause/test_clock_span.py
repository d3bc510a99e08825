"""How long a log lasted by the clocks of its lines."""

from pathlib import Path

import pytest

from skyrl_doctor.logs.cause.clock_span import clock_span


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        (
            (
                "INFO 11-25 12:50:38 [api_server.py:1912] Starting",
                "INFO:     Shutting down",
                "INFO 11-25 13:22:30 [x.py:1] y",
            ),
            1912.0,
        ),
        (("2026-03-02 23:59:00,500 INFO start", "no clock", "2026-03-03 00:01:00,500 INFO end"), 120.0),
        (("INFO 12-31 23:59:00 [a.py:1] start", "INFO 01-01 00:01:00 [a.py:1] end"), 120.0),
        (("2026-03-02 10:00:00 INFO start", "INFO 03-02 12:00:00 [a.py:1] of another program"), None),
        (("2026-03-02T10:00:00Z start", "2026-03-02 12:00:00 in another zone perhaps"), None),
        (("12:49:02  INFO start", "13:22:00  INFO of this day or a later one"), None),
        (("2026-03-02 10:00:00 INFO start", "2026-03-02 09:00:00 INFO set back"), None),
        (("2020-03-02 10:00:00 INFO quoted", "2026-03-02 09:00:00 INFO end"), None),
        (
            (
                f"{'x' * 80} quotes 2026-03-02 09:00:00",
                "2026-03-02 10:00:00 INFO start",
                "2026-03-02 11:00:00 INFO end",
            ),
            3600.0,
        ),
        (("no clock",), None),
    ],
)
def test_the_first_and_the_last_clock_of_a_log(lines: tuple[str, ...], seconds: float | None, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert clock_span(str(log)) == seconds


def test_a_log_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert clock_span(str(tmp_path / "a.log")) is None
