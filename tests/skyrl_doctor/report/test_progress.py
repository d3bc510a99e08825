"""Progress on stderr: drawn on a terminal, silent everywhere else."""

import io

import pytest

from skyrl_doctor.core.engine import silent
from skyrl_doctor.report.plain import plain
from skyrl_doctor.report.progress import progress, progress_text


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_names_the_running_probes() -> None:
    assert progress_text([], 3) == "3 checks done"
    assert progress_text(["gpu"], 0) == "0 checks done, waiting for gpu"
    assert progress_text(list("abcdef"), 1) == "1 check done, waiting for a, b, c, d and 2 more"
    assert progress_text(["\x1b[31mred"], 1) == "1 check done, waiting for red"


def test_draws_on_a_terminal_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    screen = Screen()
    with progress(enabled=True, stream=screen) as observe:
        observe(["gpu", "[bold]podman[/bold]"], 4)
        drawn = screen.getvalue()
    assert "4 checks done, waiting for gpu, [bold]podman[/bold]" in plain(drawn)
    assert screen.getvalue().endswith("\x1b[1A\x1b[2K")


@pytest.mark.parametrize(
    ("enabled", "stream", "environ"),
    [(False, Screen(), {}), (True, io.StringIO(), {}), (True, Screen(), {"TERM": "dumb"})],
)
def test_is_silent_elsewhere(enabled: bool, stream: io.StringIO, environ: dict[str, str]) -> None:
    with progress(enabled=enabled, stream=stream, environ=environ) as observe:
        assert observe is silent
    assert stream.getvalue() == ""


def test_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node at its process limit can start none; that is ENV008's to say, not a crash of the progress line."""
    import threading

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with progress(enabled=True, stream=Screen(), environ={}) as observe:
        observe(["gpu"], 0)
