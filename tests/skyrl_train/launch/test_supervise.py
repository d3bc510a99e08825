"""Inside a job: a partner that died silently, and a watch which cannot run."""

import dataclasses
import json
import os
import signal
from pathlib import Path

import pytest

from skyrl_train.config.load import parse
from skyrl_train.launch import directory, sidecar
from skyrl_train.launch.closing import _end_other, close
from skyrl_train.launch.directory import Ended, read_ended, write_ended, write_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import IDLE
from skyrl_train.launch.signals import Signals
from skyrl_train.launch.stop_cause import write_request
from skyrl_train.launch.supervise import _follow, _with_trainer, supervise
from skyrl_train.launch.work import Work
from skyrl_train.process import start, started

CONFIG = parse('[model]\npath = "a/b"\n[slurm]\nrequeue = true\n[watch]\nenabled = true\n')
WARNED = Work(
    role=Role.TRAINER,
    job_dir="/w",
    config=CONFIG,
    payload=("true",),
    environ={"SLURM_JOB_END_TIME": "1000"},
    signals=Signals(before_end=True),
)


def test_a_runtime_that_died_without_a_word_is_not_waited_for(tmp_path: Path) -> None:
    child = start(["true"])
    child.end(300)
    write_jobs(str(tmp_path), {Role.RUNTIME: f"local:{child.pid}"})
    config = parse('[model]\npath = "a/b"\n[watch]\nenabled = false\n')
    ended = supervise(dataclasses.replace(WARNED, config=config, job_dir=str(tmp_path), environ={}, signals=Signals()))
    told = read_ended(str(tmp_path), Role.TRAINER)
    assert (ended, told and told.reason) == (
        1,
        f"the runtime process {child.pid} is no longer running; it was never ready",
    )


SILENT = parse('[model]\npath = "a/b"\n[watch]\nenabled = false\n')
GIVEN_UP = "the trainer job 8 ended without a report: JobState=NODE_FAIL Reason=NodeDown"


@pytest.mark.parametrize(
    ("told", "expected", "trainer"),
    [
        (Ended(0, "", 1.0), (0, ""), (0, "")),
        (Ended(3, "boom", 1.0), (0, "the trainer job ended: boom"), (3, "boom")),
        (None, (0, GIVEN_UP), (1, GIVEN_UP)),
    ],
)
def test_a_runtime_ends_well_when_its_trainer_has_ended(
    told: Ended | None, expected: tuple[int, str], trainer: tuple[int, str], tmp_path: Path
) -> None:
    """A trainer that Slurm gave up is recorded by the runtime."""
    work = dataclasses.replace(WARNED, role=Role.RUNTIME, config=SILENT, job_dir=str(tmp_path))
    if told:
        write_ended(str(tmp_path), Role.TRAINER, told)
    ended = _with_trainer(work, GIVEN_UP if told is None else f"the trainer job ended: {told.reason or 'done'}")
    recorded = read_ended(str(tmp_path), Role.TRAINER)
    assert (ended.status, ended.reason) == expected
    assert recorded is not None
    assert (recorded.status, recorded.reason) == trainer


def test_a_runtime_that_idles_ends_and_leaves_its_queued_trainer_alone(tmp_path: Path) -> None:
    work = dataclasses.replace(WARNED, role=Role.RUNTIME, config=SILENT, job_dir=str(tmp_path))
    ended = _with_trainer(work, IDLE)
    assert (ended.status, ended.reason, read_ended(str(tmp_path), Role.TRAINER)) == (0, IDLE, None)


@pytest.mark.parametrize(
    ("jobs", "state", "summary", "writes"),
    [
        ({Role.RUNTIME: "7", Role.TRAINER: "8"}, "RUNNING", False, False),
        ({Role.RUNTIME: "7", Role.TRAINER: "8"}, "NODE_FAIL", False, True),
        ({Role.RUNTIME: "7", Role.TRAINER: "8"}, "CANCELLED", True, False),
        ({Role.RUNTIME: "7"}, "RUNNING", False, True),
    ],
)
def test_the_runtime_writes_the_post_mortem_of_a_trainer_that_cannot(
    jobs: dict[Role, str], state: str, summary: bool, writes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "scontrol").write_text(f"#!/bin/sh\necho JobId=8 JobState={state} Reason=None\n")
    (tmp_path / "bin" / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    write_jobs(str(tmp_path), jobs)
    if summary:
        (tmp_path / "summary.md").touch()
    written: list[str] = []
    work = dataclasses.replace(WARNED, role=Role.RUNTIME, config=SILENT, job_dir=str(tmp_path), environ={})
    close(work, Ended(0, "", 1.0), clear=lambda _: [], write_summary=lambda _, at: written.append(at))
    assert written == ([str(tmp_path)] if writes else [])


def test_a_program_that_the_node_lacks_is_named(tmp_path: Path) -> None:
    work = dataclasses.replace(
        WARNED,
        config=SILENT,
        job_dir=str(tmp_path),
        environ=dict(os.environ),
        signals=Signals(),
        payload=("no-such-program", "--x"),
        external_url="",
    )
    assert supervise(work, words=lambda _: ("/bin/sh", "-c", "exit 127")) == 127
    ended = read_ended(str(tmp_path), Role.TRAINER)
    assert ended is not None
    assert ended.reason == "the program 'no-such-program' was not found on this node"


BY_ALICE = "stopped with `skyrl-train stop` by alice on login1"


def requested(job_dir: Path) -> None:
    write_jobs(str(job_dir), {Role.RUNTIME: "7", Role.TRAINER: "8"})
    write_request(str(job_dir), BY_ALICE, ("7", "8"))


@pytest.mark.parametrize("is_ready", [True, False])
def test_a_trainer_whose_runtime_is_stopped_first_was_stopped_too(is_ready: bool, tmp_path: Path) -> None:
    """scancel ends the two one after the other: the runtime's end may come before the trainer's signal."""
    requested(tmp_path)
    write_ended(str(tmp_path), Role.RUNTIME, Ended(143, f"stopped by signal 15: {BY_ALICE}", 1.0))
    if is_ready:
        (tmp_path / "runtime_url.txt").write_text("http://127.0.0.1:1\n")
        (tmp_path / "runtime_ready.flag").touch()
    work = dataclasses.replace(
        WARNED, config=SILENT, job_dir=str(tmp_path), environ=dict(os.environ), signals=Signals()
    )
    assert supervise(work, words=lambda _: ("sleep", "600")) == 143
    ended = read_ended(str(tmp_path), Role.TRAINER)
    assert ended is not None
    assert (ended.status, ended.reason) == (143, f"stopped by signal 15: {BY_ALICE}")


def test_a_runtime_whose_trainer_is_stopped_first_was_stopped_too(tmp_path: Path) -> None:
    requested(tmp_path)
    write_ended(str(tmp_path), Role.TRAINER, Ended(143, f"stopped by signal 15: {BY_ALICE}", 1.0))
    work = dataclasses.replace(
        WARNED, role=Role.RUNTIME, config=SILENT, job_dir=str(tmp_path), environ=dict(os.environ), signals=Signals()
    )
    assert supervise(work, words=lambda _: ("sleep", "600")) == 143


@pytest.fixture
def cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Slurm's commands as scripts. The file has what scancel was asked for, and how the trainer had ended by then."""
    programs, asked = tmp_path / "bin", tmp_path / "cancelled"
    programs.mkdir()
    told = tmp_path / directory.ended_name(Role.TRAINER)
    for name, text in {
        "scontrol": "echo JobId=$4 JobState=RUNNING Restarts=0",
        "scancel": f"echo $* >> {asked}; cat {told} >> {asked} 2>&1; true",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    write_jobs(str(tmp_path), {Role.RUNTIME: "7", Role.TRAINER: "8"})
    return asked


def runtime_of(job_dir: Path) -> Work:
    return dataclasses.replace(WARNED, role=Role.RUNTIME, job_dir=str(job_dir), environ={"SLURM_JOB_ID": "7"})


@pytest.mark.parametrize("told", [None, Ended(1, "its own word", 5.0)])
def test_a_trainer_that_is_cancelled_before_it_listens_has_its_end_told(
    told: Ended | None, tmp_path: Path, cancelled: Path
) -> None:
    if told:
        write_ended(str(tmp_path), Role.TRAINER, told)
    _end_other(runtime_of(tmp_path), Ended(3, "the runtime exited with status 3", 4.0), None)
    asked, then = cancelled.read_text().splitlines()
    reason = told.reason if told else "the runtime job ended: the runtime exited with status 3"
    assert (asked, json.loads(then)["reason"]) == ("8", reason)


def test_a_stopped_runtime_records_the_same_end_for_its_trainer(tmp_path: Path, cancelled: Path) -> None:
    """The trainer may write its own end at the same moment."""
    write_request(str(tmp_path), BY_ALICE, ("7", "8"))
    _end_other(runtime_of(tmp_path), Ended(143, f"stopped by signal 15: {BY_ALICE}", 4.0), None)
    assert json.loads(cancelled.read_text().splitlines()[1])["reason"] == f"stopped by signal 15: {BY_ALICE}"


def test_a_full_disk_does_not_keep_the_trainer_in_the_queue(
    tmp_path: Path, cancelled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / directory.ended_name(Role.TRAINER)).mkdir()  # nothing can be written there
    _end_other(runtime_of(tmp_path), Ended(3, "", 4.0), None)
    assert cancelled.read_text().splitlines()[0] == "8"
    assert f"cannot write {tmp_path}/{directory.ended_name(Role.TRAINER)}: " in capsys.readouterr().err


def test_a_warning_that_comes_before_the_payload_listens_waits_for_it() -> None:
    """A job whose limit is near when it starts: the gate, which comes first, would die of it."""
    work = dataclasses.replace(WARNED, signals=Signals(before_end=True))
    gate = "sleep 0.5; exec /bin/bash -c 'trap \"exit 7\" USR1; while :; do sleep 0.05; done'"
    with started(("/bin/bash", "-c", gate)) as child:
        assert (_follow(work, child, ()), child.wait(300)) == ("", 7)


def test_a_payload_that_never_listens_ends_of_the_warning_and_not_of_the_time_limit() -> None:
    work = dataclasses.replace(WARNED, signals=Signals(before_end=True, patience_s=0.3))
    with started(("sleep", "600")) as child:
        assert (_follow(work, child, ()), child.wait(60)) == ("", -signal.SIGUSR1)


def test_the_watch_leaves_the_summary_to_the_supervisor() -> None:
    assert "--no-summary" in sidecar.words(CONFIG, "/j", {})
    assert "--job-log=auto" in sidecar.words(CONFIG, "/j", {})


def test_a_directory_that_takes_no_log_leaves_the_job_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    nowhere = str(tmp_path / "gone")
    with sidecar.watched(CONFIG, nowhere, {}, {}) as watch:
        assert watch is None
    sidecar.post_mortem(CONFIG, nowhere)
    said = capsys.readouterr().err.splitlines()
    assert [line.split("[")[0] for line in said] == [
        "skyrl-train job: the watch was not started: ",
        "skyrl-train job: summary.md was not written: ",
    ]
