"""Why a job was stopped: a request, Slurm's notice in the job's log, or Slurm's record."""

from pathlib import Path

import pytest

from skyrl_train.launch.directory import log, write_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.slurm import JobState
from skyrl_train.launch.stop_cause import log_size, stop_cause, withdraw_request, write_request

UNKNOWN = JobState("")
NOTICE = "slurmstepd-gpu1: error: *** {kind} {job} ON gpu1 CANCELLED AT 2026-11-22T21:38:17{why} ***\n"


def cause(job_dir: Path, state: JobState = UNKNOWN, start: int = 0) -> str:
    return stop_cause(str(job_dir), Role.TRAINER, "8", start, lambda _: state)


def written(job_dir: Path, why: str = "", *, job: str = "8", kind: str = "JOB") -> None:
    with (job_dir / log(Role.TRAINER, "8", "err")).open("a") as file:
        file.write(NOTICE.format(kind=kind, job=job, why=why))


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        ("", "cancelled with scancel"),
        (" DUE TO TIME LIMIT", "the job hit its time limit"),
        (" DUE TO PREEMPTION", "Slurm preempted the job"),
        (" DUE to JOB REQUEUE", "Slurm requeued the job"),
        (" DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", "a node of the job failed"),
        (" DUE TO NODE FAILURE", "a node of the job failed"),
        (" DUE TO SOMETHING NEW", "Slurm stopped the job: something new"),
    ],
)
def test_slurms_notice_names_the_cause(tmp_path: Path, why: str, expected: str) -> None:
    written(tmp_path, why)
    assert cause(tmp_path) == expected


def test_a_step_counts_and_another_job_does_not(tmp_path: Path) -> None:
    written(tmp_path, job="9")
    assert cause(tmp_path) == ""
    written(tmp_path, " DUE TO TIME LIMIT", job="8.0", kind="STEP")
    assert cause(tmp_path) == "the job hit its time limit"


def test_a_notice_of_an_earlier_turn_does_not_count(tmp_path: Path) -> None:
    written(tmp_path, " DUE TO JOB REQUEUE")
    start = log_size(str(tmp_path), Role.TRAINER, "8")
    assert (start > 0, cause(tmp_path, start=start)) == (True, "")
    written(tmp_path)
    assert cause(tmp_path, start=start) == "cancelled with scancel"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (JobState("COMPLETING", ran_s=60, limit_s=60), "the job hit its time limit"),
        (JobState("PREEMPTED"), "Slurm preempted the job"),
        (JobState("CANCELLED"), "cancelled with scancel"),
        (JobState("COMPLETING", ran_s=1, limit_s=60), ""),
    ],
)
def test_without_a_notice_slurm_is_asked(tmp_path: Path, state: JobState, expected: str) -> None:
    assert cause(tmp_path, state) == expected


def test_a_request_that_names_the_job_comes_first(tmp_path: Path) -> None:
    written(tmp_path)
    write_jobs(str(tmp_path), {Role.RUNTIME: "7", Role.TRAINER: "8"})
    write_request(str(tmp_path), "stopped with `skyrl-train stop` by me on here", ("7",))
    assert cause(tmp_path) == "cancelled with scancel"
    write_request(str(tmp_path), "stopped with `skyrl-train stop` by me on here", ("7", "8"))
    assert cause(tmp_path) == "stopped with `skyrl-train stop` by me on here"
    withdraw_request(str(tmp_path))
    assert cause(tmp_path) == "cancelled with scancel"


def test_a_launch_without_slurm_has_requests_only(tmp_path: Path) -> None:
    write_jobs(str(tmp_path), {Role.TRAINER: "local:123"})
    asked = lambda: stop_cause(str(tmp_path), Role.TRAINER, "", 0, lambda _: JobState("CANCELLED"))  # noqa: E731
    assert asked() == ""
    write_request(str(tmp_path), "stopped", ("local:123",))
    assert asked() == "stopped"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"reason": 1}', '{"reason": "x", "jobs": "8"}', "\x00"])
def test_a_damaged_request_is_none(tmp_path: Path, text: str) -> None:
    write_jobs(str(tmp_path), {Role.TRAINER: "8"})
    (tmp_path / "stop_request.json").write_text(text)
    assert cause(tmp_path) == ""
