"""Recording and replaying."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.machine.base import Absent, Machine, Unreadable
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import NotRecorded, RecordedMachine, Recorder

ABOUT = {"source": "real", "date": "2026-11-20"}


def ask_everything(machine: Machine, directory: Path) -> list[object]:
    def attempt(path: str) -> object:
        try:
            return machine.read_bytes(path)
        except CouldNotLook as error:
            return (type(error), str(error))

    return [
        machine.environ(),
        machine.identity(),
        attempt(str(directory / "text")),
        attempt(str(directory / "binary")),
        attempt(str(directory / "none")),
        attempt(str(directory)),
        machine.read_bytes(str(directory / "binary"), offset=1, limit_bytes=2),
        machine.stat(str(directory / "text")),
        machine.listdir(str(directory)),
        machine.listdir(str(directory / "empty")),
        machine.which("sh"),
        machine.which("no-such-command"),
        machine.lock_holder(str(directory / "text")),
        machine.writable(str(directory)),
        machine.run(["sh", "-c", "echo a; echo b >&2; exit 2"], limit_s=10.0),
        machine.run(["no-such-command"], limit_s=10.0),
    ]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    root = tmp_path / "looked-at"
    (root / "empty").mkdir(parents=True)
    (root / "text").write_text("one\n\ntwo", encoding="utf-8")
    (root / "binary").write_bytes(b"\xff\x00\xfe\n")
    return root


def test_a_replay_answers_as_the_machine_did(tmp_path: Path, directory: Path) -> None:
    recorder = Recorder(LocalMachine({"PATH": "/usr/bin:/bin", "LANG": "C"}))
    live = ask_everything(recorder, directory)
    recorder.write(str(tmp_path / "bundle"), about=ABOUT)
    assert ask_everything(RecordedMachine.load(str(tmp_path / "bundle"), strict=True), directory) == live


def test_a_hole_is_unknown_for_a_user_and_stops_a_test() -> None:
    with pytest.raises(CouldNotLook, match=r"^not in this recording \(recording\): read /etc/x$"):
        RecordedMachine({}).read("/etc/x")
    with pytest.raises(NotRecorded, match="holds no answer to 'read /etc/x'"):
        RecordedMachine({}, strict=True).read("/etc/x")
    assert not issubclass(NotRecorded, Exception)


def test_absent_and_unreadable_are_answers() -> None:
    machine = RecordedMachine(
        {"read /a": {"absent": "/a"}, "read /b": {"unreadable": "/b", "why": "Stale file handle"}}
    )
    with pytest.raises(Absent, match="/a: no such file"):
        machine.read("/a")
    with pytest.raises(Unreadable, match="/b: Stale file handle"):
        machine.read("/b")


def test_a_malformed_answer_is_unknown() -> None:
    machine = RecordedMachine({"identity": {"host": "x"}, "run true": {"rc": 0, "colour": "red"}, "read /a": 3})
    for ask in (machine.identity, lambda: machine.run(["true"], limit_s=1.0), lambda: machine.read("/a")):
        with pytest.raises(CouldNotLook, match="is malformed"):
            ask()


@pytest.mark.parametrize(
    ("key", "answer", "ask"),
    [
        ("environ", ["HOME"], RecordedMachine.environ),
        ("environ", {"HOME": 3}, RecordedMachine.environ),
        ("list /a", True, lambda machine: machine.listdir("/a")),
        ("list /a", "name", lambda machine: machine.listdir("/a")),
        ("list /a", ["name", 3], lambda machine: machine.listdir("/a")),
        ("lock /a", {"pid": 3}, lambda machine: machine.lock_holder("/a")),
        ("writable /a", 1, lambda machine: machine.writable("/a")),
        ("which a", [], lambda machine: machine.which("a")),
        ("now", float("inf"), RecordedMachine.now),
        ("run a", {"rc": "0"}, lambda machine: machine.run(["a"], limit_s=1.0)),
        ("run a", {"rc": True}, lambda machine: machine.run(["a"], limit_s=1.0)),
        ("run a", {"rc": 0, "found": "no"}, lambda machine: machine.run(["a"], limit_s=1.0)),
        ("space /a", {"total_bytes": 1.5, "free_bytes": 1, "free_inodes": 1}, lambda machine: machine.space("/a")),
    ],
)
def test_an_answer_of_another_type_is_malformed(
    key: str, answer: object, ask: Callable[[RecordedMachine], object]
) -> None:
    """A bundle may have been edited: what is no answer to the query must not become a fact, nor a crash."""
    with pytest.raises(CouldNotLook, match=f"^the recorded answer to '{key}' is malformed"):
        ask(RecordedMachine({key: answer}))


def test_but_changes_and_takes_away() -> None:
    machine = RecordedMachine({"read /a": ["old"], "read /b": ["kept"]}).but({"read /a": ["new"], "read /b": None})
    assert machine.read("/a") == "new"
    with pytest.raises(CouldNotLook):
        machine.read("/b")


def bundle(root: Path, name: str, about: str, **files: object) -> str:
    directory = root / name
    directory.mkdir()
    (directory / "about.toml").write_text(about, encoding="utf-8")
    for file, content in files.items():
        (directory / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
    return str(directory)


def test_a_recording_extends_another_and_merges_its_files(tmp_path: Path) -> None:
    bundle(tmp_path, "base", "format = 1", a={"read /a": ["a"]}, b={"read /b": ["b"]})
    machine = RecordedMachine.load(
        bundle(tmp_path, "edited", 'format = 1\nextends = "../base"', machine={"read /b": ["B"]})
    )
    assert (machine.read("/a"), machine.read("/b")) == ("a", "B")


@pytest.mark.parametrize(
    ("about", "files", "said"),
    [
        ("format = 2", {"machine": {}}, r"format 2; this doctor reads format 1"),
        ("format = ", {"machine": {}}, "is no recorded machine: Invalid value"),
        ("format = 1", {"machine": []}, "machine.json holds no table of answers"),
        ("format = 1", {}, "it holds no machine.json"),
        ('format = 1\nextends = "."', {"machine": {}}, "extend each other in a circle"),
        ('format = 1\nextends = "gone"', {"machine": {}}, "no such file or directory"),
    ],
)
def test_a_broken_bundle_is_one_sentence(tmp_path: Path, about: str, files: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        RecordedMachine.load(bundle(tmp_path, "bad", about, **files))
    with pytest.raises(UsageError, match="is no recorded machine"):
        RecordedMachine.load(str(tmp_path / "none"))


def test_nothing_secret_is_written(tmp_path: Path) -> None:
    secret, key = "correct-horse-battery", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
    (tmp_path / "conf").write_text(f"url=https://bob:{secret}@host/x\n{key}\n", encoding="utf-8")
    recorder = Recorder(LocalMachine({"PATH": "/usr/bin:/bin", "WANDB_API_KEY": secret, "MAX_TOKENS": "131072"}))
    recorder.environ()
    recorder.read(str(tmp_path / "conf"))
    recorder.run(["echo", secret], limit_s=10.0)
    recorder.write(str(tmp_path / "bundle"), about=ABOUT)
    text = (tmp_path / "bundle" / "machine.json").read_text(encoding="utf-8")
    assert secret not in text
    assert "MIIE" not in text
    assert "131072" in text
    assert (tmp_path / "bundle" / "machine.json").stat().st_mode & 0o777 == 0o600


def test_a_binary_file_is_redacted_in_place(tmp_path: Path) -> None:
    """What a bundle holds of it can still be read by position."""
    page = tmp_path / "page"
    page.write_bytes(b"\0\x01HF_TOKEN=hf_abcdefghijklmnopqrst\0\x9f")
    recorder = Recorder(LocalMachine({"WANDB_API_KEY": "0123456789abcdef"}))
    recorder.read_bytes(str(page))
    recorder.write(str(tmp_path / "bundle"), about={"source": "real"})
    replayed = RecordedMachine.load(str(tmp_path / "bundle"), strict=True)
    assert replayed.read_bytes(str(page)) == b"\0\x01HF_TOKEN=" + b"x" * 23 + b"\0\x9f"


@pytest.mark.parametrize(
    ("content", "written"),
    [
        (b"machine wandb login \xe9va password 0123456789\n", b"machine wandb login \xe9va password xxxxxxxxxx\n"),
        (b"serve\0--api-key\0abcdefgh\0", b"serve\0--api-key\0xxxxxxxx\0"),
    ],
    ids=["no UTF-8", "a command line"],
)
def test_bytes_that_are_no_plain_text_hide_no_secret(tmp_path: Path, content: bytes, written: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    recorder = Recorder(LocalMachine({}))
    recorder.read_bytes(str(tmp_path / "file"))
    recorder.write(str(tmp_path / "bundle"), about={"source": "real"})
    replayed = RecordedMachine.load(str(tmp_path / "bundle"), strict=True)
    assert replayed.read_bytes(str(tmp_path / "file")) == written


@pytest.mark.parametrize("name", ["about.toml", "machine.json"])
def test_a_fifo_or_a_device_in_a_bundle_holds_nobody(tmp_path: Path, name: str) -> None:
    directory = Path(bundle(tmp_path, "strange", "format = 1", machine={}))
    (directory / name).unlink()
    os.mkfifo(directory / name)
    with pytest.raises(UsageError, match=f"{name}: is a fifo, not a file$"):
        RecordedMachine.load(str(directory))
    (directory / name).unlink()
    (directory / name).symlink_to("/dev/zero")
    with pytest.raises(UsageError, match=f"{name}: is a char, not a file$"):
        RecordedMachine.load(str(directory))


def test_bytes_that_are_no_text_come_back(tmp_path: Path) -> None:
    """As Python carries them in an environment."""
    recorder = Recorder(LocalMachine({"ODD": "a\udcff"}))
    recorder.environ()
    recorder.write(str(tmp_path / "bundle"), about=ABOUT)
    assert RecordedMachine.load(str(tmp_path / "bundle")).environ() == {"ODD": "a\udcff"}
