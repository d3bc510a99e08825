"""Both jobs here: whatever fails or is told to end, no process stays."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skyrl_train.cli.app import dispatch
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch import leftovers, local
from skyrl_train.launch.directory import log, write_jobs
from skyrl_train.launch.marks import MARK, marked, of_local_launches
from skyrl_train.launch.role import Role
from skyrl_train.node.ray import starts_own_cluster
from skyrl_train.process import start


def script(job_dir: Path, role: Role, text: str) -> str:
    path = job_dir / f"{role}.sh"
    path.write_text(f"{text}\n")
    return str(path)


def test_a_job_that_cannot_start_ends_the_one_that_has(tmp_path: Path) -> None:
    paths = {role: script(tmp_path, role, "exec sleep 600") for role in Role}
    (tmp_path / log(Role.TRAINER, local.LOCAL, "err")).mkdir()
    began = time.monotonic()
    with pytest.raises(UsageError, match=r"cannot start the trainer: .*Is a directory"):
        local.run(str(tmp_path), paths, lambda: False, lambda _: None)
    assert time.monotonic() - began < 300
    assert marked({MARK: str(tmp_path)}) == []


def test_told_to_end_it_ends_both(tmp_path: Path) -> None:
    paths = {role: script(tmp_path, role, "exec sleep 600") for role in Role}
    said: list[str] = []
    assert local.run(str(tmp_path), paths, lambda: True, said.append) == 128 + 15
    assert marked({MARK: str(tmp_path)}) == []
    assert said[-2:] == ["runtime: ended without a report", "trainer: ended without a report"]


def test_its_ray_follows_no_address_that_an_earlier_run_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor's gate knows it by the same variable."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    seen = tmp_path / "seen"
    text = f'printf %s "$RAY_ADDRESS" > {seen}'
    local.run(str(tmp_path), {Role.RUNTIME: script(tmp_path, Role.RUNTIME, text)}, lambda: False, lambda _: None)
    assert starts_own_cluster({"RAY_ADDRESS": seen.read_text()})


@pytest.mark.parametrize(("job", "counts"), [({}, True), ({"SLURM_JOB_ID": "8"}, False)])
def test_a_job_of_slurm_is_no_other_local_launch(job: dict[str, str], counts: bool) -> None:
    """It has a directory of its own on its node."""
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, env={MARK: "/another/launch", **job}) as other:
        try:
            assert (other.pid in of_local_launches()) == counts
        finally:
            other.communicate()


def test_what_another_local_launch_uses_on_this_node_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []
    monkeypatch.setattr(local.leftovers, "clear", lambda paths: removed.extend(paths) or leftovers.Cleared())
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={MARK: "/another/launch"})
    try:
        local.run(str(tmp_path), {Role.RUNTIME: script(tmp_path, Role.RUNTIME, "true")}, lambda: False, lambda _: None)
    finally:
        other.communicate()
    assert removed == []


def test_stop_finds_a_launch_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job_dir = tmp_path / ".skyrl_jobs" / "20260101_000000_launch"
    job_dir.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    child = start(["sleep", "600"], env={**os.environ, MARK: str(job_dir)})
    try:
        write_jobs(str(job_dir), {Role.TRAINER: f"local:{child.pid}"})
        assert dispatch(["stop"]) == 0
        assert child.wait(120) == -15
    finally:
        child.end(1)
    assert capsys.readouterr().out == "trainer: asked to stop\n"
    assert dispatch(["stop", ".skyrl_jobs/20260101_000000_launch/"]) == 0
    assert capsys.readouterr().out == "trainer: had already ended\n"


@pytest.mark.parametrize("text", ['{"trainer": "--user=me"}', '{"trainer": "local:abc"}', "garbage", "[]"])
def test_stop_of_a_damaged_directory_cancels_nothing(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "jobs.json").write_text(text)
    assert dispatch(["stop", str(tmp_path)]) == 2
    assert "records no submitted job" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--trainer-command", "'open"), "--trainer-command is not a valid command line: No closing quotation"),
        (("--skip-runtime", "--runtime-url", "ftp://a b"), "--runtime-url is 'ftp://a b'; expected one http://"),
        (("--runtime-url", "http://a"), "--runtime-url needs --skip-runtime"),
    ],
)
def test_words_that_make_no_launch_make_no_directory(
    tmp_path: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run.toml"
    target.write_text('[model]\npath = "a/b"\n')
    made = tmp_path / "job"
    assert dispatch(["launch", str(target), "--no-gate", "--job-dir", str(made), *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
    assert not made.exists()


def test_a_dry_run_names_the_directory_that_the_launch_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text('[model]\npath = "a/b"\n')
    assert dispatch(["launch", "run.toml", "--dry-run", "--no-gate", "--job-dir", "job", "--runtime-only"]) == 0
    assert f"#SBATCH --comment={tmp_path}/job\n" in capsys.readouterr().out
    assert not (tmp_path / "job").exists()


def test_they_are_not_of_the_job_in_which_they_run_and_find_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm.conf")
    paths = {Role.RUNTIME: script(tmp_path, Role.RUNTIME, f"env | grep ^SLURM_ > {tmp_path}/seen")}
    local.run(str(tmp_path), paths, lambda: False, lambda _: None)
    assert (tmp_path / "seen").read_text() == "SLURM_CONF=/etc/slurm.conf\n"
