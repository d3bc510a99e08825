"""Help and errors of both command lines."""

import re
import shlex

import pytest

from skyrl_doctor.cli.app import SKYRL_DOCTOR
from skyrl_train.cli.app import SKYRL_TRAIN
from skyrl_train.contracts.command_line import Program, dispatch, parser

PROGRAMS = (SKYRL_DOCTOR, SKYRL_TRAIN)
COMMANDS = [(program, name) for program in PROGRAMS for name in program.commands]


def error(capsys: pytest.CaptureFixture[str], program: Program, *words: str) -> str:
    with pytest.raises(SystemExit) as end:
        dispatch(program, words)
    assert end.value.code == 2
    return capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["preflihgt"], "skyrl-doctor: error: unknown command 'preflihgt'; did you mean preflight?"),
        (
            ["preflight", "--rolee", "gpu"],
            "skyrl-doctor preflight: error: unrecognized arguments: --rolee; did you mean --role?",
        ),
        (
            ["gate", "--waiver=x", "--", "a"],
            "skyrl-doctor gate: error: unrecognized arguments: --waiver=x; did you mean --waivers?",
        ),
        (["zzz"], "skyrl-doctor: error: unknown command 'zzz'"),
    ],
)
def test_a_mistyped_word_names_what_was_probably_meant(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error(capsys, SKYRL_DOCTOR, *words) == expected


def test_a_mistyped_value_names_what_was_probably_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert error(capsys, SKYRL_DOCTOR, "preflight", "--format", "jsno").endswith("; did you mean json?")
    assert error(capsys, SKYRL_TRAIN, "data", "validat", "x").endswith("; did you mean validate?")


@pytest.mark.parametrize(("program", "name"), COMMANDS, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_fits_the_screen_and_cuts_no_word(
    program: Program, name: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = set(parser(program, name).below()[name].format_help().split())
    monkeypatch.setenv("COLUMNS", str(columns))
    text = parser(program, name).below()[name].format_help()
    assert set(text.split()) == words
    too_long = [line for line in text.splitlines() if len(line) > columns and not line.startswith("  ")]
    assert too_long == []


@pytest.mark.parametrize(("program", "name"), COMMANDS, ids=lambda value: getattr(value, "name", value))
def test_each_command_has_examples_that_its_parser_accepts(program: Program, name: str) -> None:
    if program.commands[name].startswith("internal:"):
        return
    assert program.examples[name]
    for line, why in program.examples[name]:
        words = shlex.split(line)
        before = words[: words.index("--")] if "--" in words else words
        assert parser(program, before[0]).parse_args(before).command == before[0]
        assert f"{why}:\n  {program.name} {line}" in parser(program, name).below()[name].format_help()


def test_the_examples_are_of_commands() -> None:
    assert [name for program in PROGRAMS for name in program.examples if name not in program.commands] == []


def test_the_usage_is_one_line() -> None:
    usage = parser(SKYRL_DOCTOR, "preflight").below()["preflight"].format_usage()
    assert re.fullmatch(r"usage: skyrl-doctor preflight \[options\] \[TARGET …\]\n", usage)
