"""skyrl-doctor.toml."""

import json
from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.cli.settings import find

WORDS = ("preflight", "--select", "ENV016,ENV005", "--role", "gpu")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VLLM_USE_V1", "0")


def report(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code = dispatch([*WORDS, *words])
    return code, json.loads(capsys.readouterr().out)


def ids(made: Any) -> list[str]:
    return [outcome["id"] for outcome in made["outcomes"]]


def test_the_file_sets_what_the_command_line_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "skyrl-doctor.toml"
    file.write_text('fail-on = "warning"\nformat = "json"\nignore = ["ENV005"]\n')
    code, made = report(capsys)
    assert (code, ids(made), made["notes"]) == (1, ["ENV016"], [f"settings of {file}: ignores ENV005"])
    code, made = report(capsys, "--fail-on", "error", "--format=json")
    assert (code, ids(made)) == (0, ["ENV016"])


def test_none_ignores_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "skyrl-doctor.toml").write_text('fail-on = "warning"\nignore = ["ENV005"]\n')
    code, made = report(capsys, "--settings", "none", "--format", "json")
    assert (code, ids(made), made["notes"]) == (0, ["ENV005", "ENV016"], [])


def test_its_waivers_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "skyrl-doctor.toml").write_text(
        'fail-on = "warning"\n[waivers.ENV016]\nreason = "old image"\nowner = "ops"\nexpiry = 2999-01-01\n'
    )
    code, made = report(capsys, "--format", "json")
    assert (code, made["outcomes"][1]["reason"]) == (0, "waived by ops until 2999-01-01: old image")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fail-onn = 1", "unknown key 'fail-onn'; did you mean fail-on?"),
        ('fail-on = "never"', "fail-on is 'never'; expected one of error, warning"),
        ('ignore = "ENV005"', "ignore is 'ENV005'; expected a list of ids, slugs or families"),
        ("verbose = 1", "verbose is 1; expected true or false"),
        ("a = ", "Invalid value (at end of document)"),
    ],
)
def test_a_wrong_file_is_bad_input(
    text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "skyrl-doctor.toml"
    file.write_text(text)
    assert dispatch(list(WORDS)) == 2
    assert capsys.readouterr().err == f"skyrl-doctor preflight: {file}: {expected}\n"


def test_a_parent_counts_only_within_a_repository(tmp_path: Path) -> None:
    below = tmp_path / "repository" / "a"
    below.mkdir(parents=True)
    (tmp_path / "skyrl-doctor.toml").write_text("")
    assert find(str(below)) is None
    (tmp_path / "repository" / ".git").mkdir()
    assert find(str(below)) is None
    own = tmp_path / "repository" / "skyrl-doctor.toml"
    own.write_text("")
    assert find(str(below)) == str(own)
