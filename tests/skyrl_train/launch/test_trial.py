"""Slurm's judgement of a job that is not submitted. The refusals are those of Slurm 22.05, seen on a real cluster."""

from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import trial
from skyrl_train.launch.jobs import Job
from skyrl_train.launch.role import Role

JOBS = {
    role: Job(role=role, options=(f"--job-name={role}",), job_dir="/j", work_dir="/w", python="/usr/bin/python3")
    for role in Role
}
Sbatch = Callable[[str], Path]


@pytest.fixture
def sbatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sbatch:
    """A stand-in for sbatch that runs these lines; its words, and the script that it got."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def write(text: str) -> Path:
        (tmp_path / "sbatch").write_text(
            f"#!/bin/sh\necho $1 >>{tmp_path}/asked; cat $2 >>{tmp_path}/scripts\n{text}\n"
        )
        (tmp_path / "sbatch").chmod(0o755)
        return tmp_path

    return write


def judged() -> tuple[str, list[str]]:
    """The refusal, and what else was said."""
    heard: list[str] = []
    try:
        trial.refuse(JOBS, heard.append)
    except UsageError as error:
        return str(error), heard
    return "", heard


def test_both_jobs_are_asked_for_and_none_is_submitted(sbatch: Sbatch) -> None:
    at = sbatch(
        "echo 'sbatch: Job 7 to start at 2026-11-23T15:08:05 using 1 processors on nodes c1 in partition cpu' >&2"
    )
    assert judged() == ("", [])
    assert (at / "asked").read_text().split() == ["--test-only", "--test-only"]
    assert (at / "scripts").read_text().count("#SBATCH --job-name=") == 2


@pytest.mark.parametrize(
    "reason",
    [
        "Access denied to requested reservation",
        "Access/permission denied",
        "Invalid account or account/partition combination specified",
        "Invalid feature specification",
        "Invalid node name specified",
        "Invalid qos specification",
        "Required partition not available (inactive or drain)",
        "Requested reservation is invalid",
        "User's group not permitted to use this partition",
    ],
)
def test_what_sbatch_refuses_is_refused(sbatch: Sbatch, reason: str) -> None:
    sbatch(f'echo "allocation failure: {reason}" >&2; exit 1')
    assert judged() == (f"nothing was submitted, because sbatch refuses the runtime job: {reason}", [])


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("sbatch: error: Invalid --mail-type specification", "Invalid --mail-type specification"),
        (
            "sbatch: error: Invalid generic resource (gres) specification",
            "Invalid generic resource (gres) specification",
        ),
        (
            "sbatch: unrecognized option '--bogus'\nTry \"sbatch --help\" for more information",
            "unrecognized option '--bogus'",
        ),
    ],
)
def test_an_option_that_sbatch_does_not_know_is_refused(sbatch: Sbatch, printed: str, reason: str) -> None:
    sbatch(f"cat >&2 <<'END'\n{printed}\nEND\nexit 255")
    assert judged() == (f"nothing was submitted, because sbatch refuses the runtime job: {reason}", [])


def test_what_may_pass_is_said_and_not_refused(sbatch: Sbatch) -> None:
    """Slurm 22.05 says the same of drained nodes, of a reservation for maintenance and of a request that fits no node."""
    sbatch(
        "grep -q job-name=runtime $2 || { echo 'allocation failure: Requested node configuration is not available' >&2; exit 1; }"
    )
    note = (
        "Slurm cannot start the trainer job now: Requested node configuration is not available. "
        "Nodes may be down or reserved (see `sinfo -R`), or no node fits"
    )
    assert judged() == ("", [note])


@pytest.mark.parametrize(
    "text",
    [
        "exit 1",
        "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller' >&2; exit 1",
        "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1",
    ],
)
def test_without_an_answer_sbatch_decides_and_is_asked_once(sbatch: Sbatch, text: str) -> None:
    at = sbatch(text)
    assert judged() == ("", [])
    assert (at / "asked").read_text().split() == ["--test-only"]


def test_an_sbatch_that_hangs_is_not_waited_for(sbatch: Sbatch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "LIMIT_S", 0.2)
    at = sbatch("exec tail -f /dev/null")
    assert judged() == ("", [])
    assert (at / "asked").read_text().split() == ["--test-only"]
