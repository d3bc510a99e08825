"""The live view as an application, driven by Textual's pilot, at 60 to 200 columns."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, RichLog, Sparkline, Static

from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch import setup
from skyrl_doctor.watch.settings import Settings
from skyrl_doctor.watch.tui.app import Detail, WatchApp

REFUSED = "ValueError: 'max_tokens' or 'max_completion_tokens' is too large\n"


def app(root: Path, *, goes_on: Callable[[], bool] = lambda: True) -> WatchApp:
    with (root / "training_1.out").open("w", encoding="utf-8") as file:
        for step in range(1, 40):
            file.write(f"step:{step} - critic/score/mean:0.{step:02d} - actor/entropy:0.4 - timing_s/step:28.1\n")
    (root / "vllm.log").write_text(REFUSED, encoding="utf-8")
    watch = setup.build(Settings(job_dir=str(root), samplers=False, writes=False), LocalMachine(), lambda _: None)
    return WatchApp(watch, goes_on=goes_on)


def piloted(one: WatchApp, deed: Callable[[Pilot[str]], Awaitable[None]], width: int = 100) -> str | None:
    async def run() -> None:
        async with one.run_test(size=(width, 30)) as pilot:
            await pilot.pause()
            await deed(pilot)

    asyncio.run(run())
    return one.return_value


@pytest.mark.parametrize(("width", "columns"), [(60, 2), (80, 2), (110, 3), (200, 3)])
def test_it_fits_every_width(tmp_path: Path, width: int, columns: int) -> None:
    one = app(tmp_path)

    async def deed(pilot: Pilot[str]) -> None:
        for widget in one.screen.walk_children():
            assert widget.region.right <= width, widget
        xs = {plot.region.x for plot in one.query(Sparkline)}
        assert len(xs) == columns
        assert str(one.query_one("#place", Static).content) == str(tmp_path)
        reward = next(iter(one.query(Sparkline)))
        assert reward.data is not None
        assert len(reward.data) == 39
        assert len(one.query_one("#tail", RichLog).lines) >= 20
        assert one.query_one("#findings", DataTable).row_count == 1

    piloted(one, deed, width)


def test_a_finding_opens_and_closes(tmp_path: Path) -> None:
    one = app(tmp_path)

    async def deed(pilot: Pilot[str]) -> None:
        await pilot.press("enter")
        assert isinstance(one.screen, Detail)
        text = str(one.screen.query_one(Static).content)
        assert text.startswith("CFG001 max-tokens-exceed-context (root cause)\n\n")
        await pilot.press("escape")
        assert not isinstance(one.screen, Detail)

    piloted(one, deed)


def test_the_keys_hide_the_log_and_the_plots_and_quit(tmp_path: Path) -> None:
    one = app(tmp_path)

    async def deed(pilot: Pilot[str]) -> None:
        await pilot.press("l", "p")
        assert (one.query_one("#tail").display, one.query_one("#plots").display) == (False, False)
        await pilot.press("l")
        assert one.query_one("#tail").display
        await pilot.press("q")

    assert piloted(one, deed) == ""


def test_it_ends_with_the_job_and_with_a_signal(tmp_path: Path) -> None:
    async def nothing(pilot: Pilot[str]) -> None:
        await pilot.pause()

    stopped = app(tmp_path, goes_on=lambda: False)
    assert piloted(stopped, nothing) == ""
    ended = app(tmp_path)
    moments = iter(float(n) for n in range(1000, 100_000, 10))
    ended._watch._clock = lambda: next(moments)
    (tmp_path / "training_complete.flag").touch()

    async def turns(pilot: Pilot[str]) -> None:
        for _ in range(3):
            ended.take_turn()
        await pilot.pause()

    assert piloted(ended, turns) == "training_complete.flag exists"
