"""Slurm's commands, played by scripts: what they say, and what becomes of those that hang."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from skyrl_train.launch import slurm
from skyrl_train.launch.marks import marked
from skyrl_train.launch.slurm import JobState, SlurmError
from skyrl_train.process import wait_until

SHOWN = (
    "JobId=8 JobName=x UserId=a(1) GroupId=a(1) JobState=RUNNING Reason=None Requeue=1 Restarts=2 RunTime=00:01:05 TimeLimit=06:00:00 "
    "Command=/w/my jobs/trainer.sh WorkDir=/w StdErr=/w/x.err"
)


class Told(Exception):  # noqa: N818 -- as a signal of the command line is told
    pass


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_TEST_OF", str(tmp_path))
    return tmp_path


def program(at: Path, name: str, text: str) -> None:
    (at / name).write_text(f"#!/bin/sh\n{text}\n")
    (at / name).chmod(0o755)


def test_what_a_job_is_told_of(bin_dir: Path) -> None:
    program(bin_dir, "scontrol", f"echo '{SHOWN}'")
    told = JobState("RUNNING", "None", restarts=2, ran_s=65.0, limit_s=21600.0, script="/w/my jobs/trainer.sh")
    assert slurm.state("8") == told
    assert told.left_s == 21535.0
    program(bin_dir, "scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert slurm.state("8") == JobState("")


def test_what_users_write_is_not_the_state(bin_dir: Path) -> None:
    users = SHOWN.replace("JobName=", "JobName=JobState=FAILED TimeLimit=00:01:00 ", 1)
    users += " Comment=JobState=COMPLETED Reason=done RunTime=5:00:00 AdminComment=JobState=FAILED Restarts=9"
    assert users.count("JobState=") == 4
    program(bin_dir, "scontrol", f"echo '{users}'")
    assert slurm.state("8") == JobState(
        "RUNNING", "None", restarts=2, ran_s=65.0, limit_s=21600.0, script="/w/my jobs/trainer.sh"
    )


@pytest.mark.parametrize("name", ["b UserId=x JobState=FAILED", "c Command=/etc/x WorkDir=/", "UserId=root(0)"])
def test_a_job_name_like_a_record_is_a_name(name: str) -> None:
    read = slurm.parse_state(SHOWN.replace("JobName=x", f"JobName={name}"))
    assert (read.state, read.script) == ("RUNNING", "/w/my jobs/trainer.sh")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo no such account >&2; exit 1", "sbatch refused: no such account"),
        ("exit 1", "sbatch refused: no reason given"),
        ("echo hello", "sbatch printed 'hello'; expected a job id"),
        (":", "sbatch printed ''; expected a job id"),
        ("echo Socket timed out on send/recv >&2; exit 1", "check with `squeue --me`"),
    ],
)
def test_what_sbatch_refuses_is_told_in_its_words(bin_dir: Path, text: str, said: str) -> None:
    program(bin_dir, "sbatch", text)
    with pytest.raises(SlurmError, match=said):
        slurm.submit("job.sh")


@pytest.mark.parametrize(("times", "status"), [(1, 0), (2, 1)])
def test_a_busy_controller_is_told_once_more_what_may_be_said_twice(bin_dir: Path, times: int, status: int) -> None:
    """slurmctld 24.11 lets scancel wait for ten seconds now and then, and takes the next."""
    busy = "echo 'Kill job error on job id 8: Socket timed out on send/recv operation' >&2; exit 1"
    program(
        bin_dir, "scancel", f"echo $* >> {bin_dir}/said; [ $(wc -l < {bin_dir}/said) -gt {times} ] || {{ {busy}; }}"
    )
    if status:
        with pytest.raises(SlurmError, match="scancel refused: Kill job error"):
            slurm.cancel("8")
    else:
        slurm.cancel("8")
    assert (bin_dir / "said").read_text() == "8\n8\n"


def test_a_job_is_not_submitted_twice(bin_dir: Path) -> None:
    program(bin_dir, "sbatch", f"echo x >> {bin_dir}/said; echo Socket timed out on send/recv operation >&2; exit 1")
    with pytest.raises(SlurmError, match="Socket timed out"):
        slurm.submit("job.sh")
    assert (bin_dir / "said").read_text() == "x\n"


def test_a_new_job_does_not_take_itself_for_one_that_was_restarted(
    bin_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    program(bin_dir, "sbatch", f"env > {bin_dir}/env; echo 4711")
    assert slurm.submit("job.sh") == "4711"
    assert "SLURM_RESTART_COUNT" not in (bin_dir / "env").read_text()


def test_a_command_that_is_not_there(bin_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bin_dir))
    with pytest.raises(SlurmError, match="sbatch is not installed here: launch from a login node, or pass --local"):
        slurm.submit("job.sh")


def test_one_that_hangs_is_ended_with_what_it_started(bin_dir: Path) -> None:
    program(bin_dir, "scontrol", "sleep 600 & sleep 600")
    began = time.monotonic()
    with pytest.raises(SlurmError, match=r"scontrol --oneliner show job 8 timed out after 0\.3 s"):
        slurm.state("8", limit_s=0.3)
    assert time.monotonic() - began < 300
    assert wait_until(lambda: not marked({"SLURM_TEST_OF": str(bin_dir)}), 120)


def test_a_launch_that_is_told_to_end_while_sbatch_submits_cancels_the_job(bin_dir: Path) -> None:
    program(bin_dir, "sbatch", f"touch {bin_dir}/begun; sleep 0.5; echo 4711")
    program(bin_dir, "scancel", f'echo "$@" > {bin_dir}/cancelled')

    def stop(_number: int, _frame: object) -> None:
        raise Told

    before = signal.signal(signal.SIGUSR2, stop)
    main = threading.main_thread().ident

    def tell() -> None:
        wait_until((bin_dir / "begun").exists, 120)
        signal.pthread_kill(main or 0, signal.SIGUSR2)

    teller = threading.Thread(target=tell)
    try:
        teller.start()
        with pytest.raises(Told):
            slurm.submit("job.sh")
    finally:
        teller.join()
        signal.signal(signal.SIGUSR2, before)
    assert (bin_dir / "cancelled").read_text() == "4711\n"


def test_sbatch_gets_none_of_its_variables(bin_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ranks them above the options in the script."""
    program(bin_dir, "sbatch", f"env | grep -c SBATCH_ >> {bin_dir}/counted; echo 7")
    monkeypatch.setenv("SBATCH_GRES", "gpu:1")
    assert slurm.submit("/x") == slurm.submit("/x", environ={**os.environ, "SBATCH_WAIT": "1"}) == "7"
    slurm.trial("/x")
    assert (bin_dir / "counted").read_text().split() == ["0", "0", "0"]
