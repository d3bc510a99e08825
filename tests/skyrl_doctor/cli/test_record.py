"""skyrl-doctor record, and what preflight and report make of a recording."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from job_samples import make_job
from skyrl_doctor.cli.app import dispatch

SECRET = "correct-horse-battery"
RUN = f'[model]\npath = "x"\n[rollout]\nmax_model_len = 10\n[env]\nRUNTIME_API_KEY = "{SECRET}"\n'
LIMITS = ("--select", "CFG", "--role", "gpu")


def ids(report: str) -> set[str]:
    found: dict[str, Any] = json.loads(report)
    return {one["id"] for one in found["outcomes"] if one["severity"] == "error"}


@pytest.mark.parametrize("words", [("{run}",), ("--target", "{run}")])
def test_report_judges_the_configuration_that_was_recorded(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, kept, page = tmp_path / "run.toml", tmp_path / "kept", tmp_path / "page.html"
    run.write_text(RUN)
    assert dispatch(["record", str(kept), *(word.format(run=run) for word in words)]) == 0
    capsys.readouterr()
    dispatch(["preflight", "--from", str(kept), str(run), "--format", "json", *LIMITS])
    errors = ids(capsys.readouterr().out)
    assert "CFG001" in errors
    run.unlink()
    assert dispatch(["report", str(kept), "-o", str(page)]) == 0
    assert all(name in page.read_text() for name in errors)
    assert not [path for path in kept.rglob("*") if path.is_file() and SECRET in path.read_text()]


def test_report_judges_another_configuration_on_a_recording(tmp_path: Path) -> None:
    run, kept, page = tmp_path / "run.toml", tmp_path / "kept", tmp_path / "page.html"
    run.write_text(RUN)
    assert dispatch(["record", str(kept)]) == 0
    assert dispatch(["report", str(kept), "-o", str(page)]) == 0
    assert "run.toml" not in page.read_text()
    assert dispatch(["report", str(kept), "--config", str(run), "-o", str(page)]) == 0
    assert "run.toml" in page.read_text()


def test_a_recording_states_no_verdict(tmp_path: Path) -> None:
    """It is examined in every role, and a machine has one: what preflight says of it is another verdict."""
    assert dispatch(["record", str(tmp_path / "kept")]) == 0
    assert sorted(tomllib.loads((tmp_path / "kept" / "about.toml").read_text())) == [
        "date",
        "doctor",
        "format",
        "source",
    ]


def test_what_is_left_out_of_a_configuration_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, command = tmp_path / "run.sh", "python3 -m verl.trainer.main_ppo data.max_prompt_length=1"
    script.write_text(f"{command}\n")
    said = "of each target only the file itself is kept, not the files that it reads"
    for target, expected in (
        (str(script), [said]),
        (command, [said, "target 1 is not kept, because it is not a file"]),
    ):
        assert dispatch(["record", str(tmp_path / str(len(expected))), target]) == 0
        assert capsys.readouterr().out.splitlines()[1:] == expected


def test_preflight_of_a_bundle_judges_the_configuration_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, bundle = tmp_path / "job", tmp_path / "bundle"
    make_job(job, steps=1, prompts=1, samples=1)
    (job / "config.toml").write_text(RUN)
    assert dispatch(["record", str(bundle), "--job", str(job)]) == 0
    capsys.readouterr()
    assert dispatch(["preflight", "--from", str(bundle), "--format", "json", *LIMITS]) == 1
    printed = capsys.readouterr().out
    assert "CFG001" in ids(printed)
    assert f"{bundle}/job/config.toml" in printed


def test_preflight_of_a_recording_judges_the_configuration_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, kept = tmp_path / "run.toml", tmp_path / "kept"
    run.write_text(RUN)
    assert dispatch(["record", str(kept), str(run)]) == 0
    run.unlink()
    capsys.readouterr()
    assert dispatch(["preflight", "--from", str(kept), "--format", "json", *LIMITS]) == 1
    assert "CFG001" in ids(capsys.readouterr().out)
