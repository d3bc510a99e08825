"""status and stop of whatever a directory holds: a launch, half of one, another's, garbage or nothing."""

from pathlib import Path

import pytest

from skyrl_train.cli.app import dispatch
from skyrl_train.config.load import parse, resolved
from skyrl_train.contracts.agent.counts_file import line
from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.job_files import COUNTS
from skyrl_train.launch import commands, status
from skyrl_train.launch.directory import Ended, write_ended, write_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.slurm import JobState, SlurmError
from skyrl_train.launch.stop import stop

GARBAGE = (b"", b"{", b"[]", b"[1]", b"null", b'"text"', b"\xff\xfe\x00", b'{"outcomes": [1]}', b'{"outcomes": [{}]}')
GARBAGE += (b'{"status": [], "reason": 1, "at": "x"}', b'{"runtime": {"a": 1}, "trainer": null}', b"9" * 5000)
ALIVE = JobState("RUNNING", script="/w/job/trainer.sh")


@pytest.fixture
def job_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(status, "_diagnosis", lambda _: "no diagnosis yet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    at = tmp_path / "job"
    at.mkdir()
    (at / "config.json").write_text(resolved(parse('[model]\npath = "a/b"\n')))
    commands.write(str(at), commands.Commands(runtime=("true",), trainer=("true",)))
    return at


def shown(at: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert dispatch(["status", str(at)]) == 0
    return capsys.readouterr().out.splitlines()


def test_one_that_was_never_submitted(job_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(job_dir, capsys)[:4] == [
        f"launch:   {job_dir}",
        "runtime:  not submitted",
        "trainer:  not submitted",
        "health:   the runtime is not ready yet",
    ]


def test_outages_that_the_run_survived_are_a_line(job_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counts(rollouts=8, outages=1, outage_s=35.0, outage_causes={"error_runtime: refused": 1})
    (job_dir / COUNTS).write_text(line(Counts(rollouts=8)))
    assert not any(one.startswith("outages:") for one in shown(job_dir, capsys))
    (job_dir / COUNTS).write_text(line(counts))
    assert shown(job_dir, capsys)[-2:] == [
        "outages:  1 outage survived, 35 s without new rollouts: 1 x error_runtime: refused",
        "doctor:   no diagnosis yet",
    ]


def test_one_whose_second_job_was_refused(job_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jobs(str(job_dir), {Role.RUNTIME: "local:4194304"})
    write_ended(str(job_dir), Role.TRAINER, Ended(1, "never submitted: sbatch refused: invalid partition", 0))
    assert shown(job_dir, capsys)[1:3] == [
        "runtime:  process 4194304 has ended",
        "trainer:  not submitted, exited with status 1: never submitted: sbatch refused: invalid partition",
    ]


def test_a_flag_that_outlived_its_runtime_is_named(job_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jobs(str(job_dir), {Role.RUNTIME: "local:4194304"})
    (job_dir / "runtime_ready.flag").touch()
    (job_dir / "runtime_url.txt").write_text("http://127.0.0.1:1\n")
    said = "the runtime at http://127.0.0.1:1 does not answer; SLM004: runtime_ready.flag is from an earlier start, because "
    assert shown(job_dir, capsys)[3] == f"health:   {said}the runtime process 4194304 is no longer running"


@pytest.mark.parametrize("text", GARBAGE)
@pytest.mark.parametrize(
    "name",
    ["jobs.json", "runtime_ended.json", "trainer_ended.json", "gate_trainer.json", "runtime_url.txt", "verdict.json"],
)
def test_a_damaged_file_is_no_reason_to_say_nothing(
    job_dir: Path, name: str, text: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (job_dir / "runtime_ready.flag").touch()
    (job_dir / name).write_bytes(text)
    assert len(shown(job_dir, capsys)) >= 6


@pytest.mark.parametrize("text", GARBAGE)
@pytest.mark.parametrize("name", ["config.json", "launch.json"])
def test_what_is_no_launch_is_said_in_one_line(
    job_dir: Path, name: str, text: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (job_dir / name).write_bytes(text)
    assert dispatch(["status", str(job_dir)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"skyrl-train status: {job_dir} is not the job directory of a launch")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("command", ["status", "stop"])
@pytest.mark.parametrize("place", ["empty", "absent", "file"])
def test_an_empty_or_absent_directory(
    tmp_path: Path, command: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    assert dispatch([command, str(tmp_path / place)]) == 2
    said = capsys.readouterr().err
    assert str(tmp_path / place) in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("text", GARBAGE)
def test_stop_hands_no_garbage_to_slurm(job_dir: Path, text: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (job_dir / "jobs.json").write_bytes(text)
    assert dispatch(["stop", str(job_dir)]) == 2
    assert "records no submitted job" in capsys.readouterr().err


def test_stop_cancels_the_living_jobs_of_this_launch_in_one_call() -> None:
    """One that ends while the other still runs would be taken for the cause of its end."""
    cancelled: list[tuple[str, ...]] = []
    both = {"runtime": "6", "trainer": "7"}
    states = {"6": JobState("RUNNING", script="/w/job/runtime.sh"), "7": ALIVE}
    cancel = lambda *ids: cancelled.append(ids)  # noqa: E731
    assert stop(both, "/w/job", states.__getitem__, cancel) == dict.fromkeys(both, "cancelled")
    for over in (JobState(""), JobState("COMPLETED"), JobState("NODE_FAIL")):
        assert stop({"trainer": "7"}, "/w/job", lambda _, over=over: over, cancel) == {"trainer": "had already ended"}
    assert cancelled == [("6", "7")]


def test_stop_cancels_nothing_if_one_job_is_another_s() -> None:
    cancelled: list[tuple[str, ...]] = []
    states = {"6": JobState("RUNNING", script="/w/job/runtime.sh"), "7": JobState("RUNNING", script="/w/other.sh")}
    with pytest.raises(
        SlurmError,
        match=r"job 7 does not belong to /w/job: it runs /w/other\.sh, expected /w/job/trainer\.sh; nothing was cancelled",
    ):
        stop({"runtime": "6", "trainer": "7"}, "/w/job", states.__getitem__, lambda *ids: cancelled.append(ids))
    assert cancelled == []


def test_the_checkpoints_are_found_from_any_directory(
    job_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A launch with --job-dir: its relative paths begin where it was made."""
    made = commands.Commands(runtime=("true",), trainer=("true",), work_dir=str(tmp_path / "project"))
    commands.write(str(job_dir), made)
    monkeypatch.chdir("/")
    saved = next(line for line in shown(job_dir, capsys) if line.startswith("saved:"))
    assert saved == f"saved:    no complete checkpoint in {tmp_path}/project/checkpoints/skyrl/run"


def test_a_launch_that_is_over_needs_no_runtime(job_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (job_dir / "runtime_ready.flag").touch()
    (job_dir / "runtime_url.txt").write_text("http://127.0.0.1:1\n")
    for role in Role:
        write_ended(str(job_dir), role, Ended(0, "", 0))
    assert "health:   both jobs have ended" in shown(job_dir, capsys)
