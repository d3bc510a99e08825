"""skyrl-doctor diagnose."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.logs.read.sources import find_sources

LOGS = Path(__file__).parents[2] / "logs"


def test_the_json_is_what_programs_were_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "runtime_1.out"
    log.write_text("fine\nNo available worker slots\nConnection refused\n", encoding="utf-8")
    assert dispatch(["diagnose", str(log), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "root": {
            "id": "RUN005",
            "slug": "no-worker-slots",
            "file": str(log),
            "line": 2,
            "text": "No available worker slots",
            "explain": "more sandboxes were requested at once than the runtime has slots",
        },
        "matches": [
            {"id": "RUN005", "slug": "no-worker-slots", "role": "root", "file": str(log), "line": 2},
            {"id": None, "slug": "connection-lost", "role": "cascade", "file": str(log), "line": 3},
        ],
        "unknown": None,
        "failed": True,
    }


def test_a_person_reads_what_where_why_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["diagnose", str(LOGS / "GPU001" / "platform.log")]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("GPU001 mig-uuid: this vLLM takes no MIG UUID in CUDA_VISIBLE_DEVICES\n\n")
    for part in (
        "platform.log:6",
        "  >      6 | ",
        "\nWhy\n",
        "\nWhat to do\n",
        "Consequences, not the cause:\n",
        "explain GPU001",
    ):
        assert part in shown


def test_an_unknown_error_is_shown_and_not_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "training.err"
    log.write_text("ZeroDivisionError: division by zero\n", encoding="utf-8")
    assert dispatch(["diagnose", str(log), "--format", "json"]) == 1
    text = "ZeroDivisionError: division by zero"
    cluster = {"template": text, "count": 1, "first": 1, "last": 1}
    raised = {"exception": "ZeroDivisionError", "message": "division by zero", "package": "", "version": ""}
    search = {"search": 'ZeroDivisionError "division by zero"'}
    unknown = {"file": str(log), "line": 1, "text": text, **raised, **search, "cluster": cluster, "others": []}
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "root": None,
        "matches": [],
        "unknown": unknown,
        "failed": True,
    }
    assert dispatch(["diagnose", str(log)]) == 1
    assert capsys.readouterr().out.startswith("No known failure matched.")


def test_a_healthy_log_is_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["diagnose", str(LOGS / "healthy" / "config_dump.log")]) == 0
    assert capsys.readouterr().out.startswith("No known failure and no error found in 1 file.\n")


def test_what_cannot_be_read_is_never_healthy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    absent, healthy = str(tmp_path / "none.log"), str(LOGS / "healthy" / "config_dump.log")
    assert dispatch(["diagnose", absent]) == 2
    assert capsys.readouterr() == ("", f"skyrl-doctor diagnose: {absent}: no such file or directory\n")
    assert dispatch(["diagnose", healthy, absent]) == 2
    assert dispatch(["diagnose", str(LOGS / "RUN005" / "slots.log"), absent]) == 1


def test_an_empty_log_shows_no_healthy_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, other = tmp_path / "a.log", tmp_path / "b.log"
    empty.touch()
    assert dispatch(["diagnose", str(empty)]) == 2
    said = f"skyrl-doctor diagnose: no output in {empty}: an empty log does not show whether the run is healthy\n"
    assert capsys.readouterr() == ("", said)
    other.write_text("fine\n", encoding="utf-8")
    assert dispatch(["diagnose", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_not_shown(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdefsecret")
    log = tmp_path / "a.log"
    log.write_text("X-API-Key: abcdefgh12345\nNo available worker slots 0123456789abcdefsecret\n", encoding="utf-8")
    assert dispatch(["diagnose", str(log), "--format", form]) == 1
    shown = capsys.readouterr().out
    assert "<redacted:" in shown
    assert "0123456789abcdefsecret" not in shown
    assert "abcdefgh12345" not in shown


def test_the_quoted_lines_fit_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of the root cause is cut after three rows, with a mark; -v prints it whole."""
    monkeypatch.setenv("COLUMNS", "60")
    log = tmp_path / "train.log"
    error = f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. {'Of the memory 60 GiB is free. ' * 8}"
    log.write_text(f"Traceback (most recent call last):\n{'a long line before it ' * 12}\n{error}\n")
    assert dispatch(["diagnose", str(log)]) == 1
    short = capsys.readouterr().out.splitlines()
    assert [line for line in short if "|" in line] == [
        "         1 | Traceback (most recent call last):",
        "         2 | a long line before it a long line before it a",
        "           | long line before it a long line before it a…",
        "  >      3 | torch.OutOfMemoryError: CUDA out of memory.",
        "           | Tried to allocate 2.32 GiB. Of the memory 60",
        "           | GiB is free. Of the memory 60 GiB is free. Of",
        "           | … (-v prints the whole line)",
    ]
    assert dispatch(["diagnose", str(log), "-v"]) == 1
    whole = capsys.readouterr().out.splitlines()
    assert [line for line in whole if line.startswith("  >")] == [f"  >      3 | {error.rstrip()}"]


def test_a_path_in_a_quoted_line_stays_whole_on_a_narrow_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    long = "/env/lib/python3.12/site-packages/oddlib/inference_servers/new_inference_worker_wrap.py"
    longer = long.replace("oddlib", "/".join(f"folder_{at}" for at in range(9)))
    log = tmp_path / "train.log"
    log.write_text(
        f'Traceback (most recent call last):\n  File "{long}", line 66, in f\n  File "{longer}", line 66, in g\n'
        f"ValueError: {'x' * 60} of {long} has no row\n"
    )
    assert dispatch(["diagnose", str(log)]) == 1
    assert [line for line in capsys.readouterr().out.splitlines() if "|" in line] == [
        "         1 | Traceback (most recent call last):",
        "         2 | File",
        f'           | "{long}", …',
        "         3 | File",
        f'           | "{longer}", …',
        "  >      4 | ValueError:",
        f"           | {'x' * 47}",
        f"           | {'x' * 13} of",
        f"           | {long}",
        "           | … (-v prints the whole line)",
    ]


def test_a_run_whose_figures_are_nan_is_no_healthy_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    lines = [f"step:{at} - actor/grad_norm:{'nan' if at > 2 else 0.2}" for at in range(1, 6)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    message = "from step 3 on, in 3 of 3 steps: actor/grad_norm is nan; expected finite numbers"
    assert dispatch(["diagnose", str(log), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["root"], found["unknown"], found["failed"]) == (None, None, True)
    assert found["steps"] == [
        {
            "id": "TRN005",
            "slug": "metrics-not-finite",
            "file": str(log),
            "line": 3,
            "step": 3,
            "message": message,
            "error": True,
            "advice": "resume from a checkpoint before step 3: later ones may hold NaN too. Lower the learning rate, or clip the gradient",
        }
    ]
    assert dispatch(["diagnose", str(log)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("The figures of the training steps show faults:\n  TRN005 metrics-not-finite")


def test_after_findings_of_steps_diagnose_does_not_say_that_it_found_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    lines = [f"step:{at} - actor/grad_norm:{'nan' if at > 2 else 0.2}" for at in range(1, 6)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert dispatch(["diagnose", str(log)]) == 1
    last = capsys.readouterr().out.partition("\n\n")[2].splitlines()
    assert last[:2] == [
        "No line shows an error. The finding above comes from the figures of the steps.",
        f"The log stops at step 5 without an error: {log}:5",
    ]
    log.write_text("ValueError: retrying in 1 s\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert dispatch(["diagnose", str(log)]) == 1
    last = capsys.readouterr().out.partition("\n\n")[2].splitlines()
    assert last[:2] == [
        "No known failure matches a line. The finding above comes from the figures of the steps.",
        "The first error line. It announces another try, or the run continued after it:",
    ]


def test_rewards_that_stay_0_are_shown_and_end_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(f"step:{at} - actor/grad_norm:0.0\n" for at in range(1, 8)), encoding="utf-8")
    assert dispatch(["diagnose", str(log)]) == 0
    assert "in 7 of 7 steps: actor/grad_norm is 0" in " ".join(capsys.readouterr().out.split())


def test_a_script_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/bash\npython3 -m verl.trainer.main_ppo trainer.nnodes=1\n", encoding="utf-8")
    assert dispatch(["diagnose", str(script)]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert shown == (
        f"skyrl-doctor diagnose: {script} is a script or a configuration, not a log; check it with "
        f"`skyrl-doctor preflight {script}`"
    )


def test_the_same_failure_in_the_log_of_the_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    err, dmesg = tmp_path / "slurm-4711.err", tmp_path / "dmesg.txt"
    err.write_text("slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0.\n", encoding="utf-8")
    killed = "Memory cgroup out of memory: Killed process 88207 (ray::WorkerDict) total-vm:212345678kB"
    dmesg.write_text(f"{killed}\n", encoding="utf-8")
    assert dispatch(["diagnose", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert f"not read: {dmesg}; name it on the command line to read it too" in " ".join(shown.err.split())
    assert killed not in shown.out
    assert dispatch(["diagnose", str(err), str(dmesg)]) == 1
    assert f"\nThe same failure in other files:\n  {dmesg}:1\n    {killed}\n" in capsys.readouterr().out


def test_the_log_of_a_watch_is_no_log_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("No available worker slots\n", encoding="utf-8")
    (tmp_path / "watch.log").write_text("skyrl-doctor watch: RUN005 no-worker-slots (root cause)\n", encoding="utf-8")
    assert find_sources([str(tmp_path)]).files == (str(tmp_path / "train.log"),)
    (tmp_path / "watch.log").write_text("[watch] reward 0.2\n", encoding="utf-8")
    assert find_sources([str(tmp_path)]).files == (str(tmp_path / "train.log"), str(tmp_path / "watch.log"))


def test_files_that_only_their_place_joins_are_read_as_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.log", "b c.log"):
        Path(name).write_text("No available worker slots\n", encoding="utf-8")
    assert dispatch(["diagnose", "a.log", "b c.log"]) == 1
    assert capsys.readouterr().out.startswith(
        "Read as one run: a.log, b c.log\nFor one alone: skyrl-doctor diagnose a.log\n\nRUN005 no-worker-slots: "
    )
    Path("slurm-4711.out").write_text("fine\n", encoding="utf-8")
    assert dispatch(["diagnose", "b c.log", "slurm-4711.out"]) == 1
    assert capsys.readouterr().out.startswith(
        "Read as one run: b c.log, slurm-4711.out\nFor one alone: skyrl-doctor diagnose 'b c.log'\n\nRUN005 no-worker-slots: "
    )
    Path("slurm-4711.err").write_text("No available worker slots\n", encoding="utf-8")
    assert dispatch(["diagnose", "slurm-4711.err", "slurm-4711.out"]) == 1
    assert capsys.readouterr().out.startswith("RUN005 no-worker-slots: ")


@pytest.mark.parametrize(("line", "has_slurm"), [("srun: job 4711 has been allocated resources\n", True), ("", False)])
def test_slurm_is_named_only_where_the_log_shows_it(
    line: str, has_slurm: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"{line}step:3 - actor/grad_norm:0.2\n", encoding="utf-8")
    assert dispatch(["diagnose", str(log)]) == 0
    assert ("sacct" in capsys.readouterr().out) is has_slurm


def test_an_unknown_error_of_a_file_that_only_its_place_joins_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slurm-4711.out").write_text("No available worker slots\n", encoding="utf-8")
    Path("b.log").write_text("ValueError: odd panel\n", encoding="utf-8")
    assert dispatch(["diagnose", "b.log", "slurm-4711.out"]) == 1
    assert capsys.readouterr().out.endswith(
        "Errors in files that may be of another run (one alone: skyrl-doctor diagnose FILE):\n"
        "  b.log:1: ValueError: odd panel\n"
    )
    Path("b.log").write_text("No available worker slots\nValueError: odd panel\n", encoding="utf-8")
    assert dispatch(["diagnose", "b.log", "slurm-4711.out"]) == 1
    assert "may be of another run" not in capsys.readouterr().out
