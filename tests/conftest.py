"""Lanes: a test with a lane's marker is skipped, with the reason, where the lane's tool is missing.

`--require=LANE,…` turns that skip into a failure, so that CI cannot take a skipped lane for green.
"""

import os
import signal
from collections.abc import Iterator

import hypothesis
import pytest

from lanes.tools import LANES, missing_tool

# A slow machine is no finding: no example has a time limit of its own. Every run draws the same examples, that a failure is
# always one of the change at hand; DRAW_ANEW=1 looks for others.
hypothesis.settings.register_profile("doctor", deadline=None, derandomize="DRAW_ANEW" not in os.environ, database=None)
hypothesis.settings.load_profile("doctor")
# Refusals would be wrapped: workers of pytest-xdist have COLUMNS, and readline, which pytest loads, sets it behind os.environ.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require", default="", metavar="LANE,…", help="lanes whose tool must be here: a skip of theirs is a failure"
    )


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background jobs; what tests start must hear it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    unknown = required(config) - set(LANES)
    if unknown:
        raise pytest.UsageError(f"--require: no lane is called {min(unknown)!r}; known: {', '.join(sorted(LANES))}")


def required(config: pytest.Config) -> set[str]:
    return {name for name in str(config.getoption("--require")).split(",") if name}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for lane in LANES:
        if item.get_closest_marker(lane) is None:
            continue
        reason = missing_tool(lane)
        if reason is not None and lane in required(item.config):
            pytest.fail(f"lane {lane} is required, but {reason}", pytrace=False)
        if reason is not None:
            pytest.skip(f"lane {lane}: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A test of a required lane may not skip itself either."""
    report = yield
    lanes = [lane for lane in required(item.config) if item.get_closest_marker(lane)]
    if lanes and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"lane {lanes[0]} is required, but the test skipped itself: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the job, the GPU or the waivers of whoever runs it."""
    for name in (
        "SLURM_JOB_ID",
        "CUDA_VISIBLE_DEVICES",
        "SKYRL_JOB_DIR",
        "UV_PYTHON",
        "VIRTUAL_ENV",
        "RAY_ADDRESS",
        "NO_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
