"""Somebody else may write to the directory, as in /tmp: links planted before and between the steps of a write."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_doctor.cli.session import _write_through, write_report
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import Recorder
from skyrl_train.cli.app import dispatch
from skyrl_train.contracts import files
from skyrl_train.contracts.errors import UsageError as TrainUsageError
from skyrl_train.node.apply import apply
from skyrl_train.node.settings import Preparation, TextFile
from skyrl_train.tasks.sinks import replaced

VICTIM = "the victim's text"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text(VICTIM)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "place"
    path.mkdir()
    return path


def convert(path: Path) -> None:
    with replaced(path) as part:
        part.write_text("new")


WRITERS: dict[str, Callable[[Path], object]] = {
    "a file": lambda path: files.write_whole(str(path), "new"),
    "a recording": lambda path: Recorder(LocalMachine({})).write(str(path.parent), about={}),
    "a file of a node": lambda path: apply(Preparation(files=(TextFile(path=str(path), text="new", mode=0o600),))),
    "a data set": convert,
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_guessed_temporary_file_is_not_used(write: Callable[[Path], object], place: Path, victim: Path) -> None:
    for name in ("x", "about.toml", "machine.json"):
        for guess in (f"{name}.{os.getpid()}.tmp", f".{name}.part-{os.getpid()}", f"{name}.tmp"):
            (place / guess).symlink_to(victim)
    write(place / "x")
    assert victim.read_text() == VICTIM


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_link_in_place_of_the_file_is_replaced(write: Callable[[Path], object], place: Path, victim: Path) -> None:
    for name in ("x", "about.toml", "machine.json"):
        (place / name).symlink_to(victim)
    write(place / "x")
    assert victim.read_text() == VICTIM


def test_a_link_planted_during_the_write_is_replaced(place: Path, victim: Path) -> None:
    with files.replacing(str(place / "x")) as file:
        file.write(b"new")
        (place / "x").symlink_to(victim)
        (temporary,) = (path for path in place.iterdir() if path.name.endswith(".tmp"))
    assert (victim.read_text(), (place / "x").read_text(), (place / "x").is_symlink()) == (VICTIM, "new", False)
    assert not temporary.exists()


def test_a_directory_swapped_during_the_write_gets_nothing(place: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    with files.replacing(str(place / "x")) as file:
        file.write(b"new")
        place.rename(tmp_path / "moved")
        place.symlink_to(target)
    assert (list(target.iterdir()), (tmp_path / "moved" / "x").read_text()) == ([], "new")


def test_a_race_for_the_name_is_never_won(place: Path, victim: Path) -> None:
    path, stop = place / "x", threading.Event()

    def plant() -> None:
        while not stop.is_set():
            for name in ("x", *(one for one in os.listdir(place) if one.endswith(".tmp"))):
                try:
                    os.unlink(place / name)
                    os.symlink(victim, place / name)
                except OSError:
                    continue

    attacker = threading.Thread(target=plant)
    attacker.start()
    try:
        for _ in range(300):
            try:
                files.write_whole(str(path), "new", durable=False)
            except OSError:
                continue
    finally:
        stop.set()
        attacker.join()
    assert victim.read_text() == VICTIM


def test_a_link_in_place_of_a_fifo_that_was_just_seen(
    place: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "x").symlink_to(victim)
    monkeypatch.setattr(os.path, "isfile", lambda _path: False)  # as it was a moment before
    with pytest.raises(UsageError):
        write_report(str(place / "x"), "new")
    assert victim.read_text() == VICTIM


def test_a_file_in_place_of_the_one_that_was_read(place: Path) -> None:
    (place / "x").write_text("read")
    read = os.stat(place / "x")
    (place / "x").rename(place / "read")
    (place / "x").write_text(VICTIM)
    with (
        pytest.raises(OSError, match="it was replaced while it was read"),
        files.replacing(str(place / "x"), like=read),
    ):
        pass
    assert (place / "x").read_text() == VICTIM


@pytest.mark.parametrize(
    "append", [lambda path: files.append_line(path, "x\n"), files.open_to_append], ids=["append_line", "open_to_append"]
)
def test_nothing_is_appended_through_a_link_or_to_a_fifo(
    append: Callable[[str], object], place: Path, victim: Path
) -> None:
    (place / "log").symlink_to(victim)
    os.mkfifo(place / "fifo")
    for name in ("log", "fifo"):
        with pytest.raises(OSError, match=r"symbolic links|No such device"):
            append(str(place / name))
    assert victim.read_text() == VICTIM


@pytest.mark.skipif(os.getuid() != 0, reason="needs root: the link belongs to another user")
def test_a_report_does_not_follow_another_user_to_a_directory_or_device(place: Path, victim: Path) -> None:
    """As root, a report in a directory of another user would be written over a disk."""
    for name, target in (("directory", victim.parent), ("device", Path("/dev/null"))):
        (place / name).symlink_to(target)
        os.lchown(place / name, 65534, 65534)
    for path in (place / "directory" / "victim", place / "device"):
        with pytest.raises(UsageError, match="is a link of another user"):
            write_report(str(path), "new")
    assert victim.read_text() == VICTIM


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_report_does_not_follow_a_link_of_another_user(place: Path, victim: Path) -> None:
    path = place / "report.json"
    path.symlink_to(victim)
    os.lchown(path, 65534, 65534)
    with pytest.raises(UsageError, match="link of another user"):
        write_report(str(path), "report")
    assert victim.read_text() == VICTIM


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_new_file_is_not_written_below_a_link_of_another_user(
    place: Path, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "planted").symlink_to(victim.parent)
    os.lchown(place / "planted", 65534, 65534)
    before = sorted(victim.parent.iterdir())
    with pytest.raises(TrainUsageError, match="is a link of another user"):
        convert(place / "planted" / "new")
    words = ["init", str(place / "planted" / "new"), "--model", "m", "--tasks", "https://h/t.parquet", "--gpus", "1"]
    assert dispatch(words) == 2
    assert "is a link of another user" in capsys.readouterr().err
    assert sorted(victim.parent.iterdir()) == before


def test_a_failed_write_leaves_nothing(place: Path) -> None:
    def fail() -> None:
        with files.replacing(str(place / "x")) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(place.iterdir()) == []


def test_a_link_that_was_planted_where_a_fifo_was_is_refused(place: Path) -> None:
    """It may lead to a device."""
    os.mkfifo(place / "fifo")
    reader = os.open(place / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        (place / "x").symlink_to("fifo")
        with pytest.raises(OSError, match="Too many levels"):
            _write_through(str(place / "x"), "new")
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


def test_links_of_this_user_are_followed_to_their_end(place: Path) -> None:
    (place / "a").mkdir()
    (place / "a" / "b").symlink_to("../c")
    (place / "x").symlink_to("a/b")
    write_report(str(place / "x"), "new")
    assert ((place / "c").read_text(), (place / "x").is_symlink()) == ("new", True)


def test_a_loop_of_links_is_refused(place: Path) -> None:
    (place / "x").symlink_to("y")
    (place / "y").symlink_to("x")
    with pytest.raises(UsageError, match="Too many levels"):
        write_report(str(place / "x"), "new")
