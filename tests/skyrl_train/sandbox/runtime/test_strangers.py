"""Floods of requests without the key: they push no event out, and fill neither the memory nor the log."""

import logging
from pathlib import Path

import pytest

from fakes.runtime import asynchronous, serving
from skyrl_train.sandbox.runtime.strangers import KEEP, LINES, Strangers

FLOOD = 300


@asynchronous
async def test_a_flood_pushes_no_event_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skyrl_train.runtime")
    async with serving(tmp_path) as server:
        events = server.runtime.telemetry.events
        events.add("taken over", runtime_id="skyrl-1")
        before = events.after(0)
        del server.client.headers["X-API-Key"]
        for method, path in (("GET", "/list"), ("POST", "/health"), ("DELETE", "/alive")):
            for number in range(FLOOD):
                answer = await server.client.request(method, f"{path}?{number}", headers={"X-API-Key": f"{number}"})
                assert answer.status_code in (401, 405)
        assert events.after(0) == before
        assert [entry["count"] for entry in events.strangers.last() if entry["status"] == 401] == [FLOOD]
        assert len([one for one in caplog.records if "refused" in one.getMessage()]) <= LINES


def test_many_clients_keep_few_entries_of_few_letters() -> None:
    strangers = Strangers(lambda: 1.0)
    for number in range(10 * KEEP):
        strangers.add(status=401, why="x" * 10_000, client=f"10.0.{number // 256}.{number % 256}", path="/" * 10_000)
    entries = strangers.last()
    assert len(entries) == KEEP
    assert max(len(str(entry)) for entry in entries) < 1000
    assert entries[-1]["client"] == "10.0.3.231"


def test_the_log_says_how_many_lines_it_left_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skyrl_train.runtime")
    now = 1000.0
    strangers = Strangers(lambda: now)
    for _ in range(LINES + 7):
        strangers.add(status=401, why="wrong key", client="10.0.0.1")
    assert len(caplog.messages) == LINES
    now += 61.0
    strangers.add(status=401, why="wrong key", client="10.0.0.1\nready url=x")
    assert caplog.messages[LINES:] == [
        "refused without key more=7",
        'refused without key status=401 why="wrong key" client="10.0.0.1\\nready url=x"',
    ]


def test_a_clock_that_was_set_back_opens_a_new_window(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skyrl_train.runtime")
    times = iter([1000.0] * (LINES + 1) + [10.0])
    strangers = Strangers(lambda: next(times))
    for _ in range(LINES + 2):
        strangers.add(status=401, why="wrong key", client="10.0.0.1")
    assert len(caplog.messages) == LINES + 2
