"""The frame of skyrl-train's command line."""

from pathlib import Path

import pytest

from skyrl_train.cli.app import COMMANDS, SKYRL_TRAIN, dispatch
from skyrl_train.contracts.command_line import command_of, parser
from skyrl_train.contracts.version import VERSION

COMMANDS_AT = Path(__file__).parents[3] / "skyrl_train" / "cli"


def test_each_command_has_a_module_and_takes_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as end:
            parser(SKYRL_TRAIN, name).parse_args([name, "--help"])
        assert end.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: skyrl-train {name}")


def test_each_module_is_a_command() -> None:
    frame = {"__init__", "app", "frame", "streams"}
    assert {file.stem for file in COMMANDS_AT.glob("*.py")} - frame >= set(COMMANDS)


def test_the_command_is_the_first_word_that_names_one() -> None:
    program = SKYRL_TRAIN._replace(commands={"demo": "x", "show": "y"})
    assert command_of(program, ["--flag", "show", "demo"]) == "show"
    assert command_of(program, ["nothing"]) is None


def test_a_command_that_is_the_first_word_is_parsed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    alone = parser(SKYRL_TRAIN, "demo", alone=True)
    commands = next(action for action in alone._actions if action.dest == "command")
    assert list(commands.choices or ()) == ["demo"]
    with pytest.raises(SystemExit):
        dispatch(["dmeo", "demo"])
    assert capsys.readouterr().err == (
        "skyrl-train: error: unknown command 'dmeo'; did you mean demo?\n"
        "`skyrl-train --help` lists the options and shows examples\n"
    )


def test_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        dispatch(["--version"])
    assert capsys.readouterr().out == f"skyrl-train {VERSION}\n"


def test_no_command_prints_the_help_and_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch([]) == 2
    assert capsys.readouterr().out.startswith("usage: skyrl-train [options] COMMAND …\n")
