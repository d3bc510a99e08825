"""The clocks that programs write."""

import pytest

from skyrl_doctor.logs.clock import CLOCK, clock_of


@pytest.mark.parametrize(
    "line",
    [
        b"2026-03-02 09:14:03,500\tINFO worker.py:1942 -- Started",
        b"INFO 03-02 09:14:03.5 [core.py:58]",
        b'time="2026-03-02T09:14:03.5+01:00" level=error',
        b"[2026-03-02 09:14:03,500][verl][INFO]",
        b"2026/03/02 09:14:03.5 [error]",
        b"[rank1]:[E302 09:14:03.5 ProcessGroupNCCL.cpp:616]".replace(b"E302", b"E0302"),
        b"E0302 09:14:03.500000  123 pjrt.cc:1]",
        b"Mar  2 09:14:03.5 gpu07 kernel: oom",
    ],
)
def test_clocks(line: bytes) -> None:
    found = CLOCK.search(line)
    assert found is not None
    assert clock_of(found) == (3, 2, 9, 14, 3.5)


def test_none() -> None:
    for line in (b"", b"09:14:03    INFO Starting", b"0/8 [00:15:23<?]", b"2026-03-02"):
        assert CLOCK.search(line) is None
