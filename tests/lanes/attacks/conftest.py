"""A runtime with real Podman sandboxes, whose image has bash, a Python with pytest, and the task that the attacks are tried on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lanes.attacks.areas import AREAS, area_of
from lanes.attacks.image import build_image
from lanes.podman.conftest import NewLab, image_archive, lane_user, new_lab, tools, workshop
from lanes.podman.runtime import SETTINGS, Server

OUTCOMES = ("passed", "failed", "error", "skipped")
__all__ = ["image_archive", "lane_user", "new_lab", "tools", "workshop"]


@pytest.fixture(scope="session")
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    made = Server(lab, settings=replace(SETTINGS, silent_limit_s=30.0)).stock(image_archive)
    try:
        made.up()
        build_image(made)
        yield made
    finally:
        made.close()
        lab.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of docs/security.md: how many tests of each area were run, and how they ended."""
    counts: dict[str, Counter[str]] = {area: Counter() for area in AREAS}
    for outcome in OUTCOMES:
        for report in terminalreporter.stats.get(outcome, ()):
            area = area_of(report.nodeid)
            if area is not None and (report.when == "call" or outcome != "passed"):
                counts[area][outcome] += 1
    terminalreporter.section("attacks by area")
    for line in ("area", *OUTCOMES), ("---",) * (1 + len(OUTCOMES)):
        terminalreporter.line(f"| {' | '.join(line)} |")
    for area, counted in counts.items():
        cells = (area, *(f"{counted[outcome]:,}" for outcome in OUTCOMES))
        terminalreporter.line(f"| {' | '.join(cells)} |")
