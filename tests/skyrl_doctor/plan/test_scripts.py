"""Scripts with the files that they source, and what bash says of a broken one."""

from pathlib import Path

import pytest

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.model import Problem
from skyrl_doctor.plan.scripts import read_shell, syntax_problem
from skyrl_doctor.plan.source import COMMAND_LINE, Source


def source(folder: Path, text: str, name: str = "run.sh") -> Source:
    (folder / name).write_text(text, encoding="utf-8")
    return Source(str(folder / name), text)


def test_a_file_beside_the_script_is_read_with_its_own_lines(tmp_path: Path) -> None:
    source(tmp_path, "\nARGS=(a=1 b=2)\n", "common.sh")
    script = read_shell(LocalMachine(), source(tmp_path, 'source common.sh\nfoo "${ARGS[@]}" c=3\n'))
    (command,) = script.commands
    assert [(word.text, word.line, word.file) for word in command.words] == [
        ("foo", 2, ""),
        ("a=1", 2, f"{tmp_path}/common.sh"),
        ("b=2", 2, f"{tmp_path}/common.sh"),
        ("c=3", 2, ""),
    ]
    assert script.sourced == []


def test_a_script_that_another_one_starts_gets_its_arguments_and_exports(tmp_path: Path) -> None:
    source(tmp_path, 'foo n=$N m="${M:-none}" "$@"\n', "inner.sh")
    text = "export N=4\nM=5\nK=6 bash inner.sh a=1 k=$K\nM=7 bash inner.sh\n"
    script = read_shell(LocalMachine(), source(tmp_path, text))
    assert [[word.text for word in command.words] for command in script.commands if command.name == "foo"] == [
        ["foo", "n=4", "m=none", "a=1", "k=$K"],
        ["foo", "n=4", "m=7"],
    ]


def test_files_that_source_each_other_end(tmp_path: Path) -> None:
    source(tmp_path, "source b.sh\nA=1\n", "a.sh")
    source(tmp_path, "source a.sh\nB=2\n", "b.sh")
    script = read_shell(LocalMachine(), source(tmp_path, "source a.sh\nfoo $A $B\n"))
    assert [word.text for word in script.commands[-1].words] == ["foo", "1", "2"]


def test_a_file_that_is_missing_or_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "data.sh").write_bytes(b"A=\xff\n")
    script = read_shell(LocalMachine(), source(tmp_path, "source gone.sh\n. data.sh\n"))
    assert script.sourced == ["gone.sh", "data.sh"]


def problem(folder: Path, text: str) -> Problem | None:
    found = source(folder, text)
    machine = LocalMachine()
    try:
        return syntax_problem(machine, found, read_shell(machine, found))
    finally:
        machine.close()


def test_a_quote_that_is_not_closed_is_a_problem_with_its_line(tmp_path: Path) -> None:
    text = 'A=1\npython3 -m verl.trainer.main_ppo data.train_files="x\n'
    assert problem(tmp_path, text) == Problem(
        message="bash cannot read this script: unexpected EOF while looking for matching `\"'; nothing from this line on runs",
        location=Location(str(tmp_path / "run.sh"), 2, None),
    )


def test_a_script_that_bash_reads_has_no_problem(tmp_path: Path) -> None:
    assert problem(tmp_path, "f() {\n  for x in {1..3}; do echo $x; done\n}\nf\n") is None


def test_a_command_line_is_no_file_to_ask_bash_about() -> None:
    machine = LocalMachine()
    broken = Source(COMMAND_LINE, "python3 -m verl.trainer.main_ppo 'a=1")
    assert syntax_problem(machine, broken, read_shell(machine, broken)) is None


@pytest.mark.parametrize("starter", ["bash", "exec bash", "nohup sh", "exec"])
def test_a_script_in_the_folder_of_this_one_is_followed(tmp_path: Path, starter: str) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "inner.sh").write_text("python -m my.main n=$1 m=$M\n", encoding="utf-8")
    outer = f"""\
HERE="$(cd -- "$(dirname -- "${{BASH_SOURCE[0]}}")" && pwd)"
export M=4
{starter} "$HERE/inner.sh" 3
"""
    script = read_shell(LocalMachine(), source(tmp_path / "jobs", outer))
    assert [word.text for word in script.commands[-1].words] == ["python", "-m", "my.main", "n=3", "m=4"]
