"""The live view: drawn in place by rich, closed with q or Ctrl-C. It only reads the watch's state."""

import select
import sys
import termios
import time
import tty
from types import TracebackType
from typing import Any

from skyrl_doctor.watch.loop import Watch
from skyrl_doctor.watch.tui.view import picture

DRAW_S = 1.0


class Live:
    """A context that restores the terminal at its end."""

    def __init__(self, watch: Watch) -> None:
        from rich.console import Console
        from rich.live import Live as Drawing

        self._watch = watch
        self._console = Console(highlight=False, emoji=False)
        self._drawing = Drawing(console=self._console, auto_refresh=False, screen=self._console.is_terminal)
        self._terminal: list[Any] | None = None
        self._left = False
        self._drawn_at = float("-inf")

    def __enter__(self) -> "Live":
        if sys.stdin.isatty():
            self._terminal = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        self._drawing.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._drawing.stop()
        if self._terminal is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._terminal)

    @property
    def left(self) -> bool:
        """Redraws when due. Returns whether the viewer pressed q."""
        if time.monotonic() - self._drawn_at >= DRAW_S:
            self._drawn_at = time.monotonic()
            drawn = picture(self._watch, self._console.width, self._console.height, time.time())
            self._drawing.update(drawn, refresh=True)
        return self._left

    def wait(self, seconds: float) -> None:
        """Sleeps, or until a key is pressed."""
        if self._terminal is None:
            time.sleep(seconds)
            return
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        if ready and sys.stdin.read(1) in ("q", "Q", "\x04", ""):
            self._left = True
