"""The report in colour says what the plain one says."""

import dataclasses
import io
import re
import subprocess
import sys

import pytest

from report_samples import MIG, MIXED, failing
from skyrl_doctor.core.model import Location
from skyrl_doctor.report import text
from skyrl_doctor.report.lines import USUAL_VIEW, View, lines
from skyrl_doctor.report.model import Report
from skyrl_doctor.report.plain import plain
from skyrl_doctor.report.terminal import STYLES, show, use_colour


class Screen(io.StringIO):
    """A terminal of 80 columns."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


FULL = View(verbose=True)


def shown(report: Report, *, view: View = USUAL_VIEW, **environ: str) -> str:
    screen = Screen()
    show(report, view, stream=screen, environ=environ)
    return screen.getvalue()


def test_same_text_in_colour() -> None:
    coloured = shown(MIXED)
    assert "\x1b[1;31mERROR    \x1b[0mGPU001 run.toml:12: CUDA_VISIBLE_DEVICES" in coloured
    assert plain(coloured) == text.render(MIXED)


@pytest.mark.parametrize("view", [USUAL_VIEW, FULL])
def test_the_id_of_a_finding_links_to_its_page(view: View) -> None:
    page = "https://example.org/GPU001.md"
    report = dataclasses.replace(MIXED, pages={"GPU001": page})
    link = re.compile(rf"\x1b\]8;id=\d+;{re.escape(page)}\x1b\\+GPU001\x1b\]8;;\x1b")
    assert len(link.findall(shown(report, view=view))) == 2  # MIXED has two findings of it
    assert "\x1b]8" not in shown(report, view=view, NO_COLOR="1")
    assert "\x1b]8" not in text.render(report, view)


def test_without_colour_the_width_is_that_of_the_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert plain(shown(MIXED)) == shown(MIXED, NO_COLOR="1") == text.render(MIXED, width=60)


def test_no_colour_where_none_is_wanted() -> None:
    assert shown(MIXED, NO_COLOR="1") == shown(MIXED, TERM="dumb") == text.render(MIXED)
    assert not use_colour({"NO_COLOR": "1"})
    assert use_colour({"NO_COLOR": "", "TERM": "xterm"})


@pytest.mark.parametrize("foreign", ["[red]x[/red]", "[/]", "[link=http://x]y[/link]", ":fire: [bold", "\\[x]"])
def test_foreign_text_is_no_markup(foreign: str) -> None:
    report = failing(foreign, evidence=(foreign,), location=Location(foreign))
    assert plain(shown(report)) == text.render(report)


def test_a_long_command_stays_one_line() -> None:
    assert MIG.remedy is not None
    remedy = dataclasses.replace(MIG.remedy, commands=("podman unshare rm -rf " + "x" * 90 + " " + "y" * 90,))
    report = failing("m", remedy=remedy)
    assert plain(shown(report, view=FULL)) == text.render(report, FULL)


def test_every_look_has_a_style() -> None:
    assert {line.style for line in lines(MIXED, 80, FULL)} - {""} <= set(STYLES)


def test_rich_is_loaded_for_a_terminal_alone() -> None:
    code = (
        "import sys, io; sys.path.insert(0, 'tests'); from report_samples import MIXED\n"
        "from skyrl_doctor.report import terminal, progress, formats\n"
        "terminal.show(MIXED, stream=io.StringIO(), environ={'NO_COLOR': '1'})\n"
        "with progress.progress(enabled=True, stream=io.StringIO()) as observe: observe(['gpu'], 1)\n"
        "[formats.render(MIXED, name) for name in formats.FORMATS]\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'rich'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "[]\n"
