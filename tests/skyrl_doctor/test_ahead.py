"""Slow questions are asked while the target is being read, and each is asked once."""

import threading
from pathlib import Path
from typing import TypeVar

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Role
from skyrl_doctor.examination import Options, run
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.report.model import Report

T = TypeVar("T")


class Examined(LocalMachine):
    """Says when it is asked to compile."""

    def __init__(self) -> None:
        super().__init__()
        self.compiles: list[q.Ask] = []
        self.asked = threading.Event()

    def answer(self, query: q.Query[T]) -> T:
        if isinstance(query, q.Ask) and query.child == "triton_build":
            self.compiles.append(query)
            self.asked.set()
        return super().answer(query)


class Reader(LocalMachine):
    """Reads the target only after the other machine was asked to compile."""

    def __init__(self, asked: threading.Event) -> None:
        super().__init__()
        self._asked = asked
        self.was_asked_first = False

    def answer(self, query: q.Query[T]) -> T:
        if isinstance(query, q.Read) and query.path.endswith("run.toml"):
            self.was_asked_first = self._asked.wait(4)
        return super().answer(query)


def preflight(target: Path, machine: Examined, reader: LocalMachine, check: str) -> Report:
    return run(machine, reader, Options(targets=(str(target),), roles=frozenset({Role.GPU}), selected=(check,)))


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text("[model]\npath = 'x'\n", encoding="utf-8")
    return path


def test_the_compiler_starts_before_the_target_is_read_and_runs_once(target: Path) -> None:
    machine = Examined()
    reader = Reader(machine.asked)
    preflight(target, machine, reader, "ENV001")
    assert (reader.was_asked_first, len(machine.compiles)) == (True, 1)


def test_a_target_with_another_interpreter_is_judged_by_that_one(target: Path, tmp_path: Path) -> None:
    other = tmp_path / "none" / "bin" / "python"
    target.write_text(f"[model]\npath = 'x'\n[python]\ninterpreter = '{other}'\n", encoding="utf-8")
    (outcome,) = preflight(target, Examined(), LocalMachine(), "ENV001").outcomes
    assert str(other) in outcome.findings[0].message


def test_nothing_is_asked_that_no_chosen_check_needs(target: Path) -> None:
    machine = Examined()
    preflight(target, machine, LocalMachine(), "CFG001")
    assert machine.compiles == []


def test_a_target_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        preflight(tmp_path / "absent.toml", Examined(), LocalMachine(), "ENV001")
