"""Which trainers get another turn, and which runtime is kept for it."""

import os
import signal
from pathlib import Path

import pytest

from checkpoint_files import save
from skyrl_train.config.load import parse
from skyrl_train.launch import closing, stop_cause
from skyrl_train.launch.closing import close
from skyrl_train.launch.directory import Ended, read_ended, write_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.signals import Signals
from skyrl_train.launch.turns import ignored_warning, too_many, why_no_requeue
from skyrl_train.launch.work import Work

CONFIG = parse('[model]\npath = "a/b"\n[slurm]\nrequeue = true\nrequeue_limit = 2\n[watch]\nenabled = false\n')
OURS = ("python", "-m", "skyrl_train", "train", "/w")
KILLED = Ended(128 + signal.SIGUSR1, "the trainer was killed by signal 10", 1.0)
SAVED = Ended(0, "", 1.0)


def turn(number: int, *, payload: tuple[str, ...] = OURS, stop: int = 0, warned: bool = True, at: float = 0.0) -> Work:
    return Work(
        role=Role.TRAINER,
        job_dir="/w",
        config=CONFIG,
        payload=payload,
        environ={"SLURM_JOB_ID": "8", "SLURM_RESTART_COUNT": str(number)},
        signals=Signals(before_end=warned, stop=stop),
        started_at=at,
    )


def test_a_trainer_that_heeds_the_warning_gets_turns_up_to_the_limit() -> None:
    assert [why_no_requeue(turn(number), SAVED) for number in (0, 1)] == ["", ""]
    assert why_no_requeue(turn(2), SAVED) == "the trainer was not requeued: slurm.requeue_limit allows 2 restarts"


def test_slurms_own_requeues_count_too() -> None:
    assert (too_many(turn(2)), too_many(turn(3))) == (
        "",
        "Slurm restarted the job 3 times; slurm.requeue_limit allows 2",
    )


@pytest.mark.parametrize(("ended", "stop"), [(KILLED, 0), (Ended(143, "stopped by signal 15", 1.0), 15)])
def test_one_that_ignores_it_and_saves_nothing_does_not_start_again(
    ended: Ended, stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reason = why_no_requeue(turn(0, stop=stop), ended)
    assert reason.startswith("the trainer was not requeued: it did not stop after the warning")
    assert ignored_warning(turn(0, stop=stop), ended) != ""
    root = tmp_path / "checkpoints" / "skyrl" / "run"
    save(root, 1)
    assert why_no_requeue(turn(0, stop=stop), ended) == ""
    assert why_no_requeue(turn(0, stop=stop, at=9e9), ended) == reason


def test_a_program_of_the_user_may_save_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert why_no_requeue(turn(0, payload=("python", "mine.py")), KILLED) == ""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Slurm's commands as scripts; the file has the changes that were asked for."""
    asked = tmp_path / "asked"
    (tmp_path / "bin").mkdir()
    state = 'echo "JobId=$4 JobState=RUNNING Reason=None Restarts=0 RunTime=00:50:00 TimeLimit=01:00:00"'
    for name, text in {
        "scontrol": f'case "$*" in *requeue*) echo "$@" >> {asked};; *) {state};; esac',
        "scancel": f'echo scancel "$@" >> {asked}',
    }.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(closing, "end_marked", lambda *_: [])
    write_jobs(str(tmp_path), {Role.RUNTIME: "7", Role.TRAINER: "8"})
    return asked


def closed(work: Work, ended: Ended, at: Path) -> None:
    import dataclasses

    close(dataclasses.replace(work, job_dir=str(at)), ended, clear=lambda _: [], write_summary=lambda *_: None)


def test_a_runtime_that_is_too_short_for_the_next_turn_ends_at_once(slurm: Path, tmp_path: Path) -> None:
    """It has 10 of 60 minutes left, and the trainer's next turn lasts 60."""
    closed(turn(0), SAVED, tmp_path)
    assert slurm.read_text().splitlines() == ["requeue 8", "scancel 7"]
    assert stop_cause.is_replaced(str(tmp_path), "7")
    assert read_ended(str(tmp_path), Role.TRAINER) is None


def test_the_trainer_in_the_queue_outlives_such_a_runtime(slurm: Path, tmp_path: Path) -> None:
    stop_cause.write_request(str(tmp_path), stop_cause.REPLACED, ("7",))
    runtime = Work(
        role=Role.RUNTIME,
        job_dir=str(tmp_path),
        config=CONFIG,
        payload=("true",),
        environ={"SLURM_JOB_ID": "7"},
        signals=Signals(stop=15),
    )
    closed(runtime, Ended(143, "stopped by signal 15", 1.0), tmp_path)
    assert not slurm.exists()
    assert read_ended(str(tmp_path), Role.TRAINER) is None


def test_a_trainer_that_is_not_requeued_says_why(slurm: Path, tmp_path: Path) -> None:
    closed(turn(0), KILLED, tmp_path)
    ended = read_ended(str(tmp_path), Role.TRAINER)
    assert ended is not None
    assert (ended.status, ended.reason) == (138, why_no_requeue(turn(0), KILLED))
    assert not slurm.exists()
