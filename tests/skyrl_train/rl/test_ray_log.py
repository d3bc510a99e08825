"""A driver that Ray has ended says nothing; Ray's log does."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.rl.ray_log import LINES, WIDTH, of_driver, troubles

INFO = "[2026-11-21 09:54:28,427 I 7 9] task_manager.cc:1557: task left"
LOST = "[2026-11-21 09:54:30,001 C 7 9] core_worker.cc:42: The node is lost"
SIGNAL = "[2026-11-21 09:54:30,002 E 7 7] logging.cc:474: *** SIGTERM received ***"


def test_warnings_and_errors_are_troubles_and_the_stack_of_a_signal_is_none() -> None:
    warning = LOST.replace(" C ", " W ")
    assert troubles([INFO, warning, "  more", SIGNAL, LOST, INFO]) == [warning, LOST]


def test_few_and_short_lines_are_shown() -> None:
    long = [f"{LOST} {number} {'x' * 500}" for number in range(9)]
    assert troubles(long) == [line[:WIDTH] for line in long[-LINES:]]


def test_the_log_of_this_driver_is_read_where_its_ray_writes(tmp_path: Path) -> None:
    for pid, line in ((7, LOST), (77, INFO)):
        logs = tmp_path / "ray" / f"session_2026-11-21_09-53-23_550695_{pid}" / "logs"
        logs.mkdir(parents=True)
        (logs / "python-core-driver-01_7.log").write_bytes(f"{INFO}\n{line}\n\xff".encode("latin-1"))
    assert of_driver({"RAY_TMPDIR": str(tmp_path), "TMPDIR": "/nowhere"}, 7) == [LOST]
    assert of_driver({"TMPDIR": str(tmp_path)}, 77) == []
    assert of_driver({"RAY_TMPDIR": str(tmp_path)}, 777) == []


@given(st.lists(st.text(max_size=80)))
def test_any_text_is_read(lines: list[str]) -> None:
    assert set(troubles(lines)) <= {line[:WIDTH] for line in lines}
