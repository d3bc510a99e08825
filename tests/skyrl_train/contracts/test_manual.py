"""The man pages."""

import shutil
import subprocess
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import SKYRL_DOCTOR, dispatch
from skyrl_train.cli.app import SKYRL_TRAIN
from skyrl_train.contracts.command_line import Program, parser
from skyrl_train.contracts.manual import pages


def test_a_page_for_each_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["manual", str(tmp_path)]) == 0
    expected = {"skyrl-doctor.1", *(f"skyrl-doctor-{name}.1" for name in SKYRL_DOCTOR.commands)}
    assert {file.name for file in (tmp_path / "man1").iterdir()} == expected
    assert capsys.readouterr().out.startswith(f"{len(expected)} pages written")


def test_internal_commands_have_none() -> None:
    assert "skyrl-train-job.1" not in pages(SKYRL_TRAIN)


def test_what_a_page_holds() -> None:
    page = pages(SKYRL_DOCTOR)["skyrl-doctor-preflight.1"]
    assert ".B \\-\\-fail\\-on {error,warning}\nlowest severity" in page
    assert ".SH DESCRIPTION\nCheck" in page
    assert ".SH EXAMPLES\n.TP\n.B skyrl\\-doctor preflight run.toml\n" in page
    assert "Exit status: 0 pass" in page
    assert "examples:" not in page


@pytest.mark.parametrize("program", [SKYRL_DOCTOR, SKYRL_TRAIN])
def test_groff_warns_of_nothing(program: Program) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("needs groff")
    for name, text in pages(program).items():
        argv = [groff, "-man", "-Tutf8", "-ww", "-z"]
        done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=60, check=True)
        assert (name, done.stderr) == (name, "")


@pytest.mark.parametrize("program", [SKYRL_DOCTOR, SKYRL_TRAIN])
def test_the_help_of_each_command_shows_an_example(program: Program) -> None:
    lacking = []
    for name in program.commands:
        made = parser(program, name).below()[name]
        texts = {name: made.epilog, **{f"{name} {verb}": below.epilog for verb, below in made.below().items()}}
        lacking += [one for one, text in texts.items() if f"  {program.name} {one}" not in (text or "")]
    assert lacking == []
