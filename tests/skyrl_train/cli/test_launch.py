"""skyrl-train launch with a stand-in for sbatch: what the doctor says counts before anything is submitted."""

import signal
import sys
import time
from pathlib import Path

import pytest

from checks.env.triton_python_h import triton_python_h
from skyrl_doctor.core.model import Role, Severity
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.triton_build import TritonBuild
from skyrl_train.cli.app import dispatch
from skyrl_train.launch import gate, needs, render
from skyrl_train.launch.directory import read_jobs
from skyrl_train.launch.role import Role as TrainRole

GOOD = '[model]\npath = "a/b"\n'
BAD = '[model]\npath = "a/b"\nstrange = 1\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sbatch").write_text("#!/bin/sh\necho 47$#\n")
    (tools / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def doctor(at: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A stand-in for the doctor, in its interpreter."""
    (at / "skyrl_doctor.py").write_text(text)
    monkeypatch.setattr(gate, "DOCTOR", (str(at / "skyrl_doctor.py"),))


def launch(text: str, *words: str) -> int:
    Path("run.toml").write_text(text)
    commands = ("--runtime-command", "true", "--trainer-command", "true", "--job-dir", "job")
    return dispatch(["launch", "run.toml", *commands, *words])


def test_what_passes_is_submitted(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doctor(here, monkeypatch, "")
    assert launch(GOOD) == 0
    assert read_jobs("job") == {"runtime": "472", "trainer": "474"}


def test_what_the_doctor_refuses_is_not(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor(here, monkeypatch, "raise SystemExit(1)")
    assert launch(GOOD) == 78
    assert capsys.readouterr().err.splitlines() == [
        "skyrl-train launch: the login gate refused: its report is missing",
        "skyrl-train launch: nothing was submitted",
    ]
    assert not Path("job").exists()


def test_the_doctor_s_word_comes_before_our_own(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says where in the file the fault is, and what to do."""
    doctor(here, monkeypatch, "raise SystemExit(1)")
    assert launch(BAD) == 78
    doctor(here, monkeypatch, "")
    assert launch(BAD) == 2


def test_a_doctor_that_fails_or_hangs_lets_nothing_through(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "skyrl-doctor preflight: target run.toml: the file is empty"
    doctor(here, monkeypatch, f"raise SystemExit(print({said!r}, file=__import__('sys').stderr) or 7)")
    assert launch(GOOD) == 2
    assert capsys.readouterr().err == "skyrl-train launch: the login gate failed: target run.toml: the file is empty\n"
    doctor(here, monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(gate, "LOGIN_LIMIT_S", 0.2)
    began = time.monotonic()
    assert launch(GOOD) == 2
    assert time.monotonic() - began < 300
    assert "timed out after 0.2 s" in capsys.readouterr().err
    assert not Path("job").exists()


@pytest.mark.parametrize("failure", ["raise SystemExit(7)", "raise SystemExit(1)", "import time; time.sleep(600)"])
def test_a_doctor_that_explains_nothing_hides_no_broken_rule(
    failure: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor(here, monkeypatch, failure)
    monkeypatch.setattr(gate, "LOGIN_LIMIT_S", 0.2 if "sleep" in failure else 60)
    launch(GOOD.replace("[model]", '[slurm]\ntrainer_time_limit = "9:00:00"\n[model]'))
    assert "slurm.runtime_time_limit" in capsys.readouterr().err


def test_what_the_login_gate_leaves_out_could_not_refuse() -> None:
    build, login = TritonBuild(gpu_here=False, problem="it is not there"), Roles(frozenset({Role.LOGIN}), asked=True)
    assert gate.NEEDLESS_AT_LOGIN == ("ENV001",)
    assert [one.severity for one in triton_python_h(TrainingPython("/p", "x"), build, login)] == [Severity.WARNING]


def test_a_fault_of_ours_leaves_no_doctor_behind(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doctor(here, monkeypatch, "import time; time.sleep(600)")
    with pytest.raises(RuntimeError), gate.login("run.toml", "report.json") as look:
        raise RuntimeError
    assert look._child.status == -signal.SIGTERM


def test_our_own_trainer_gets_no_job_without_tasks(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would find that out on the GPU node. Another program has data of its own."""
    doctor(here, monkeypatch, "")
    monkeypatch.setattr(needs, "NEEDED", dict.fromkeys(TrainRole, ()))
    Path("run.toml").write_text(GOOD)
    assert dispatch(["launch", "run.toml", "--job-dir", "job"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-train launch: data.train_files is empty; add at least one file of tasks\n"
    )
    assert not Path("job").exists()
    assert dispatch(["launch", "run.toml", "--job-dir", "job", "--runtime-only"]) == 0


def test_our_own_programs_get_no_job_without_their_packages(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor(here, monkeypatch, "")
    monkeypatch.setattr(needs, "NEEDED", {role: (f"{role}_of_nobody",) for role in TrainRole})
    Path("run.toml").write_text(GOOD + '[data]\ntrain_files = ["train.parquet"]\n')
    for words, missing in (((), "runtime"), (("--runtime-command", "true"), "trainer")):
        assert dispatch(["launch", "run.toml", "--job-dir", "job", *words]) == 2
        assert f"{sys.executable} has no {missing}_of_nobody, which the {missing} needs" in capsys.readouterr().err
    assert not Path("job").exists()
    assert launch(GOOD) == 0


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--no-gate",), ("--no-gate", "--dry-run")])
def test_all_reasons_are_given_in_one_round(
    words: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The doctor's, the packages of both jobs, the tasks, the directory and Slurm's."""
    doctor(here, monkeypatch, "raise SystemExit(1)")
    monkeypatch.setattr(needs, "NEEDED", {role: (f"{role}_of_nobody",) for role in TrainRole})
    (here / "tools" / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: Invalid account' >&2; exit 1\n")
    Path("taken").mkdir()
    Path("taken/jobs.json").write_text("{}")
    Path("run.toml").write_text(GOOD)
    gated = "--no-gate" not in words
    assert dispatch(["launch", "run.toml", "--job-dir", "taken", *words]) == (78 if gated else 2)
    shown = capsys.readouterr()
    expected = [
        *(["the login gate refused: its report is missing"] if gated else []),
        "holds jobs.json of an earlier launch",
        "runtime_of_nobody, which the runtime needs (extra runtime)",
        "data.train_files is empty",
        "trainer_of_nobody, which the trainer needs (extra train)",
        "sbatch refuses the runtime job: Invalid account",
        *(["nothing was submitted"] if gated else []),
    ]
    lines = shown.err.splitlines()
    assert [text for text, line in zip(expected, lines, strict=True) if text not in line] == []
    assert ("#SBATCH --job-name" in shown.out) == ("--dry-run" in words)


def test_without_jinja2_the_other_reasons_are_given_too(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    doctor(here, monkeypatch, "")
    monkeypatch.setattr(needs, "NEEDED", dict.fromkeys(TrainRole, ()))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    render._environment.cache_clear()
    Path("run.toml").write_text(GOOD)
    assert dispatch(["launch", "run.toml", "--dry-run"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert "launch needs Jinja2, which is not installed (extra launch); run " in lines[0]
    assert lines[1:] == ["skyrl-train launch: data.train_files is empty; add at least one file of tasks"]


def test_several_nodes_are_no_local_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch(GOOD.replace("[model]", "[slurm]\nnodes = 2\n[model]"), "--local", "--no-gate") == 2
    assert (
        "--local uses one machine, but slurm.nodes is 2; set slurm.nodes = 1 or launch with Slurm"
        in capsys.readouterr().err
    )


def test_the_scripts_of_several_nodes_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch(GOOD.replace("[model]", "[slurm]\nnodes = 2\n[model]"), "--dry-run") == 0
    shown = capsys.readouterr().out
    assert f"# {Path('job').absolute()}/trainer_node.sh\n#!/bin/bash\n" in shown
    assert shown.count("#   srun --export=ALL --nodes=2 ") == 2


@pytest.mark.parametrize(
    ("text", "words", "expected", "said"),
    [
        (GOOD, ("--job-dir", "taken"), 2, "holds jobs.json of an earlier launch"),
        (GOOD, ("--trainer-command", ""), 2, "data.train_files is empty"),
        (
            GOOD.replace("[model]", '[slurm]\ntrainer_time_limit = "1"\n[model]'),
            (),
            2,
            "the warning would come at once",
        ),
        (BAD, (), 78, "the login gate refused: "),
    ],
)
@pytest.mark.parametrize("dry", [True, False])
def test_a_dry_run_refuses_what_the_launch_refuses(
    text: str, words: tuple[str, ...], expected: int, said: str, dry: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("taken").mkdir()
    Path("taken/jobs.json").write_text("{}")
    assert launch(text, *words, *(("--dry-run",) if dry else ())) == expected
    assert said in capsys.readouterr().err
    assert not Path("job").exists()


def test_a_dry_run_shows_the_jobs_that_the_rules_refuse(capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("[model]", '[slurm]\ntrainer_time_limit = "9:00:00"\n[model]')
    assert launch(text, "--dry-run") == 78
    shown = capsys.readouterr()
    assert "#SBATCH --time=9:00:00\n" in shown.out
    assert "the login gate refused: SLM001 " in shown.err
