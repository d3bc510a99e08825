"""What the commands do with names that hold a secret, and with targets that are no files."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import secret_shapes
from skyrl_doctor.cli.app import dispatch

SECRET = secret_shapes.SHAPES[0].secrets[0]


@pytest.mark.parametrize(
    "words",
    [
        ("preflight", f"/none/{SECRET}.toml"),
        ("preflight", f"python -m verl.trainer.main_ppo x=[{SECRET}"),
        ("budget", f"python -m verl.trainer.main_ppo x=[{SECRET}", "--gpu-memory", "20GiB"),
        ("diagnose", f"/none/{SECRET}"),
        ("explain", SECRET),
        ("watch", f"/none/{SECRET}"),
    ],
    ids=lambda words: words[0],
)
def test_no_command_repeats_a_secret(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """What a batch script prints ends in a log that others read."""
    assert dispatch(words) != 0
    printed = capsys.readouterr()
    assert printed.out + printed.err
    assert SECRET not in printed.out + printed.err


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["FIFO", "device"])
def test_the_watch_refuses_what_it_cannot_follow(
    make: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was read there, so "no open findings" would be wrong."""
    make(tmp_path / "log")
    assert dispatch(["watch", str(tmp_path / "log"), "--once"]) == 2
    assert "neither a directory nor a regular file" in capsys.readouterr().err
