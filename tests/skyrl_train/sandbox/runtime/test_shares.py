"""One sandbox's share of what all sandboxes of a user have together."""

from pathlib import Path

import pytest

from skyrl_train.sandbox.engine import Share
from skyrl_train.sandbox.runtime.shares import share_of

SYSCTLS = {
    "kernel/pty/max": "4096",
    "kernel/pty/reserve": "1024",
    "fs/inotify/max_user_instances": "128",
    "fs/pipe-user-pages-soft": "16384",
}


@pytest.mark.parametrize(
    ("slots", "share"),
    [
        (7, Share(terminals=384, inotify=16, pipe_pages=8192)),
        (400, Share(terminals=16, inotify=8, pipe_pages=8192)),
    ],
)
def test_it_is_what_the_slots_leave_but_enough_to_work(tmp_path: Path, slots: int, share: Share) -> None:
    for name, value in SYSCTLS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n")
    assert share_of(slots, str(tmp_path)) == share


def test_without_a_figure_there_is_no_limit(tmp_path: Path) -> None:
    assert share_of(7, str(tmp_path)) == Share(terminals=16, inotify=0, pipe_pages=0)
