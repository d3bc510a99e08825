"""The live view: a Textual application that takes the watch's turns and draws its state. It adds nothing to the watch."""

import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical, VerticalScroll
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, RichLog, Sparkline, Static

from skyrl_doctor.report.plain import plain
from skyrl_doctor.watch.figures import PLOTTED
from skyrl_doctor.watch.loop import Watch
from skyrl_doctor.watch.tui import view

DRAW_S = 1.0
WIDE = 110
"""From this width on the plots are in three columns, below in two."""


class Detail(ModalScreen[None]):
    """One finding in full."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "dismiss", "close")]
    DEFAULT_CSS = "Detail VerticalScroll { border: round $accent; margin: 1 2; padding: 0 1; background: $surface; }"

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._text, markup=False)


class Plot(Vertical):
    """The history of one figure."""

    DEFAULT_CSS = "Plot { height: 3; } Plot Static { height: 1; } Plot Sparkline { height: 1; }"

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.caption = Static(view.caption(title, ()), markup=False)
        self.line = Sparkline([])

    def compose(self) -> ComposeResult:
        yield self.caption
        yield self.line

    def show(self, values: list[float]) -> None:
        self.caption.update(view.caption(self.title, values))
        low = min(values, default=0.0)
        self.line.data = [value - low for value in values]  # Sparkline draws heights from 0


class WatchApp(App[str]):
    """`goes_on` is false once a signal asks the watch to stop. The app's result is why the job ended, "" if it did not."""

    TITLE = "skyrl-doctor watch"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "quit"),
        Binding("ctrl+c", "leave", show=False, priority=True),
        Binding("enter", "open", "open finding"),
        Binding("l", "log", "log"),
        Binding("p", "plots", "plots"),
    ]
    CSS = """
    #place { height: 1; text-style: bold; }
    #status { height: auto; max-height: 8; }
    #plots { grid-size: 2; grid-rows: 3; height: auto; grid-gutter: 0 2; }
    #plots.wide { grid-size: 3; }
    #findings { height: 1fr; min-height: 4; }
    #tail { height: 1fr; min-height: 3; border-top: solid $panel; }
    .hidden { display: none; }
    """

    def __init__(
        self, watch: Watch, *, goes_on: Callable[[], bool] = lambda: True, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__()
        self._watch, self._goes_on, self._clock = watch, goes_on, clock
        self._plots = {name: Plot(name) for name in PLOTTED}
        self._drawn: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static(plain(self._watch.settings.place), id="place", markup=False)
        yield Static("", id="status", markup=False)
        with Grid(id="plots"):
            yield from self._plots.values()
        yield DataTable[str](id="findings", cursor_type="row", zebra_stripes=True)
        yield RichLog(id="tail", max_lines=500, markup=False, wrap=False)
        yield Footer()

    def on_mount(self) -> None:
        self._table.add_columns("", "finding", "age", "message")
        self._table.focus()
        self.take_turn()
        self.draw()
        self.set_interval(self._watch.settings.tick_s or DRAW_S, self.take_turn)
        self.set_interval(DRAW_S, self.draw)

    def on_resize(self, event: Resize) -> None:
        self.query_one("#plots").set_class(event.size.width >= WIDE, "wide")

    def take_turn(self) -> None:
        """One turn of the watch. The app ends with the job."""
        if not self._goes_on():
            self.exit("")
            return
        self._watch.turn()
        if self._watch.over:
            self.exit(self._watch.over)

    def draw(self) -> None:
        now = self._clock()
        self.query_one("#status", Static).update("\n".join(view.status(self._watch, now)))
        for name, plot in self._plots.items():
            plot.show(list(self._watch.history[name]))
        self._draw_findings(now)
        tail = self.query_one("#tail", RichLog)
        while self._watch.tail:
            tail.write(plain(self._watch.tail.popleft()))

    def action_leave(self) -> None:
        self.exit("")

    async def action_open(self) -> None:
        """Opens the finding at the cursor."""
        if 0 <= self._table.cursor_row < len(self._drawn):
            found = self._watch.open.get(self._drawn[self._table.cursor_row])
            if found is not None:
                await self.push_screen(Detail(view.detail(found)))

    async def on_data_table_row_selected(self) -> None:
        await self.action_open()

    def action_log(self) -> None:
        self.query_one("#tail").toggle_class("hidden")

    def action_plots(self) -> None:
        self.query_one("#plots").toggle_class("hidden")

    @property
    def _table(self) -> "DataTable[str]":
        return self.query_one("#findings", DataTable)

    def _draw_findings(self, now: float) -> None:
        found, cursor = view.sorted_findings(self._watch), self._table.cursor_row
        self._drawn = [one.key for one in found]
        self._table.clear()
        for one in found:
            self._table.add_row(*view.row(one, now))
        if found:
            self._table.move_cursor(row=min(cursor, len(found) - 1))
