"""Many logs: files that come later, are renamed, deleted, cut, replaced, linked or unreadable."""

import os
from pathlib import Path

import pytest

from skyrl_doctor.watch.follow import follower as module
from skyrl_doctor.watch.follow.follower import Follower, inotify_of
from skyrl_doctor.watch.follow.inotify import Inotify
from skyrl_doctor.watch.follow.tail import Tail


class Job:
    """A job directory, a follower of it, and a clock that the test turns."""

    def __init__(self, root: Path, *, kernel: bool, marks: object = ()) -> None:
        self.root, self.now = root, 100.0
        places = [str(root)]
        self.follower = Follower(places, inotify=inotify_of(places, on_network=not kernel), marks=marks)  # type: ignore[arg-type]

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True, parents=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)

    def turn(self, seconds: float = 2.5) -> list[tuple[str, str]]:
        self.now += seconds
        found = list(self.follower.turn(self.now))
        return [(os.path.relpath(lines.path, self.root), lines.text.decode()) for lines in found]


@pytest.fixture(params=[True, False], ids=["inotify", "polling"])
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Job:
    return Job(tmp_path, kernel=request.param)


def test_files_may_come_later_and_below(job: Job) -> None:
    assert job.turn() == []
    job.write("training_1.out", "a\n")
    assert job.turn() == [("training_1.out", "a\n")]
    job.write("ray/session/logs/worker.err", "b\n")
    job.write("training_1.out", "c\n")
    assert sorted(job.turn()) == [("ray/session/logs/worker.err", "b\n"), ("training_1.out", "c\n")]
    assert job.turn() == []


def test_rotation_loses_and_repeats_nothing(job: Job) -> None:
    job.write("vllm.log", "a\n")
    assert job.turn() == [("vllm.log", "a\n")]
    job.write("vllm.log", "b\n")
    os.rename(job.root / "vllm.log", job.root / "vllm.log.1")
    job.write("vllm.log", "c\n")
    assert sorted(job.turn()) == [("vllm.log", "c\n"), ("vllm.log.1", "b\n")]
    job.write("vllm.log", "d\n")
    assert job.turn() == [("vllm.log", "d\n")]
    assert job.follower.notices() == []


def test_a_deleted_log_is_read_to_its_end_said_once_and_closed(job: Job) -> None:
    job.write("vllm.log", "a\n")
    job.turn()
    job.write("vllm.log", "b\n")
    os.remove(job.root / "vllm.log")
    assert job.turn() == [("vllm.log", "b\n")]
    for _ in range(10):
        job.turn()
    assert job.follower.notices() == [f"{job.root / 'vllm.log'} was deleted"]
    assert job.follower.paths() == []
    job.write("vllm.log", "new\n")
    assert job.turn() == [("vllm.log", "new\n")]


def test_a_log_cut_short_is_read_anew(job: Job) -> None:
    job.write("a.log", "one\ntwo\n")
    job.turn()
    (job.root / "a.log").write_text("x\n", encoding="utf-8")
    assert job.turn() == [("a.log", "x\n")]
    assert job.follower.notices() == [f"{job.root / 'a.log'}: it was truncated; reading it from the beginning"]


def test_links_are_followed_also_where_the_kernel_tells_nothing(
    job: Job, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "vllm.log"
    elsewhere.write_text("a\n", encoding="utf-8")
    (job.root / "vllm.log").symlink_to(elsewhere)
    (job.root / "loop.log").symlink_to(job.root / "loop.log")
    assert job.turn() == [("vllm.log", "a\n")]
    with elsewhere.open("a", encoding="utf-8") as file:
        file.write("b\n")
    assert job.turn(0.5) == [("vllm.log", "b\n")]
    assert job.follower.notices() == [f"{job.root / 'loop.log'}: Too many levels of symbolic links"]


def test_fifos_secrets_and_our_own_files_are_left_alone(job: Job) -> None:
    os.mkfifo(job.root / "a.log")
    for name in ("watch.log", "runtime_api_key.txt", "runtime_url.txt", "events.jsonl", "global_step_1/x.log"):
        job.write(name, "secret\n")
    assert job.turn() == []


def test_an_end_without_line_feed_is_shown_once_and_again_when_whole(job: Job) -> None:
    job.write("a.log", "\rrollouts: 0/8 [00:00<?")
    assert job.turn(0.1) == [("a.log", "\r")]
    assert job.turn(0.5) == []
    assert job.turn() == [("a.log", "rollouts: 0/8 [00:00<?")]
    assert job.turn() == []
    job.write("a.log", "\n")
    assert job.turn() == [("a.log", "rollouts: 0/8 [00:00<?\n")]


def test_marks_continue_a_rename_that_happened_meanwhile(tmp_path: Path) -> None:
    first = Job(tmp_path, kernel=True)
    first.write("a.log", "one\n")
    first.turn()
    marks = first.follower.marks()
    first.follower.close()
    os.rename(tmp_path / "a.log", tmp_path / "a.log.1")
    first.write("a.log.1", "two\n")
    first.write("a.log", "three\n")
    again = Job(tmp_path, kernel=False, marks=marks)
    assert sorted(again.turn()) == [("a.log", "three\n"), ("a.log.1", "two\n")]


def test_a_turn_is_bounded_and_the_next_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILE_BYTES", 1)
    monkeypatch.setattr(module, "TURN_BYTES", 1)
    job = Job(tmp_path, kernel=False)
    job.write("a.log", "a\n")
    job.write("b.log", "b\n")
    seen = []
    for _ in range(6):
        seen += job.turn(0.1)
    assert sorted(seen) == [("a.log", "a\n"), ("b.log", "b\n")]
    assert not job.follower.has_backlog


def test_where_the_kernel_gives_no_watch_it_polls_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Inotify, directory: str) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Inotify, "add", refuse)
    job = Job(tmp_path, kernel=True)
    job.write("a.log", "a\n")
    assert job.turn() == [("a.log", "a\n")]
    job.write("a.log", "b\n")
    assert job.turn() == [("a.log", "b\n")]
    assert job.follower.notices() == [
        "inotify is not available (No space left on device): reading every log every turn"
    ]


def test_a_log_that_cannot_be_read_for_a_while_is_read_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(tmp_path, kernel=False)
    job.write("a.log", "one\n")
    assert job.turn() == [("a.log", "one\n")]

    def stale(tail: Tail) -> None:
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(Tail, "read", stale)
        assert job.turn() == []
    job.write("a.log", "two\n")
    assert job.turn() == [("a.log", "two\n")]
    assert job.follower.notices() == [f"{job.root / 'a.log'}: Stale file handle"]
