"""Inside a job: a partner that died silently, and a watch which cannot run."""

import dataclasses
import subprocess
from pathlib import Path

import pytest

from skyrl_train.config.load import parse
from skyrl_train.launch import sidecar
from skyrl_train.launch.directory import read_ended, write_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.signals import Signals
from skyrl_train.launch.supervise import supervise
from skyrl_train.launch.work import Work

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
    child = subprocess.Popen(["true"])
    child.wait()
    write_jobs(str(tmp_path), {Role.RUNTIME: f"local:{child.pid}"})
    config = parse('[model]\npath = "a/b"\n[watch]\nenabled = false\n')
    ended = supervise(dataclasses.replace(WARNED, config=config, job_dir=str(tmp_path), environ={}, signals=Signals()))
    told = read_ended(str(tmp_path), Role.TRAINER)
    assert (ended, told and told.reason) == (1, f"the runtime process {child.pid} is gone, and it was never ready")


def test_the_watch_leaves_the_summary_to_the_supervisor() -> None:
    assert "--no-summary" in sidecar.words(CONFIG, "/j", {})


def test_a_directory_that_takes_no_log_leaves_the_job_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    nowhere = str(tmp_path / "gone")
    with sidecar.watched(CONFIG, nowhere, {}, {}) as watch:
        assert watch is None
    sidecar.post_mortem(CONFIG, nowhere)
    said = capsys.readouterr().err.splitlines()
    assert [line.split("[")[0] for line in said] == ["skyrl-train job: no watch: ", "skyrl-train job: no summary: "]
