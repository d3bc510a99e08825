"""Files from anyone: a FIFO, a device, a directory, a loop of links, a file without end, a line without end."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.tasks.rows import BadRow
from skyrl_train.launch.request import Request, plan_of
from skyrl_train.tasks.datasets import rows_of
from skyrl_train.tasks.sources import tasks_of


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


MAKERS = (fifo, device, Path.mkdir, loop, listener)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "read",
    [
        bounded.open_file,
        bounded.read_bytes,
        bounded.read_text,
        lambda path: list(bounded.lines(path)),
    ],
    ids=["open_file", "read_bytes", "read_text", "lines"],
)
def test_what_is_no_regular_file_is_refused_at_once(
    make: Callable[[Path], None], read: Callable[[Path], object], tmp_path: Path
) -> None:
    make(tmp_path / "x")
    with pytest.raises(OSError, match=r"not a regular file|Is a directory|Too many levels|No such device"):
        read(tmp_path / "x")


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
def test_a_data_set_that_is_no_file_is_a_sentence(make: Callable[[Path], None], suffix: str, tmp_path: Path) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"x{suffix}"
    make(path)
    for read in (rows_of, tasks_of):
        with pytest.raises(UsageError, match="data set"):
            list(read(str(path)))


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_launch_of_what_is_no_file_is_a_sentence(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "run.toml")
    with pytest.raises(UsageError, match=r"run\.toml cannot be read"):
        plan_of(Request(target=str(tmp_path / "run.toml"), work_dir=str(tmp_path)))


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert bounded.read_bytes(path, most_bytes=6) == b"\xef\xbb\xbfabc"
    assert bounded.read_text(path) == "abc"
    with pytest.raises(OSError, match="larger than 5 bytes"):
        bounded.read_bytes(path, most_bytes=5)


def test_a_long_line_is_skipped_and_the_next_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc\n" + b"x" * 100 + b"\nde\n" + b"y" * 100)
    assert list(bounded.lines(path, longest=4)) == [(1, "abc\n"), (2, None), (3, "de\n"), (4, None)]


def test_a_line_without_end_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.truncate(bounded.LONGEST_LINE + 1)
    assert list(tasks_of(str(path))) == [BadRow(1, "longer than 16 MiB")]
    why: list[str] = []
    assert list(rows_of(str(path), bad=why.append)) == []
    assert why == [f"data set {path}, line 1: longer than 16 MiB"]


def test_a_deep_line_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("[" * 100_000 + "\n")
    assert [type(row) for row in tasks_of(str(path))] == [BadRow]
