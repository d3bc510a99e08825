"""The training interpreter's answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython, parse_interpreter, start_fault
from skyrl_doctor.machine.questions import Completed

PYTHON = TrainingPython("/p", "UV_PYTHON")
ANSWER = {
    "version": "3.12.1",
    "implementation": "cpython",
    "platform": "linux",
    "machine": "x86_64",
    "prefix": "/t",
    "base_prefix": "/usr",
    "include": "/inc",
    "header": False,
    "distributions": {"/first": ["torch==2.11.0+cu130", "odd"], "/second": ["torch==2.10.0", "torch==2.9.0"]},
    "requires": {"torch": ["sympy>=1.13"]},
}


def test_the_first_of_a_name_counts() -> None:
    assert parse_interpreter(json.dumps(ANSWER), PYTHON) == Interpreter(
        python=PYTHON,
        version="3.12.1",
        implementation="cpython",
        platform="linux",
        machine="x86_64",
        prefix="/t",
        base_prefix="/usr",
        include="/inc",
        header=False,
        packages={"torch": "2.11.0+cu130", "odd": ""},
        requires={"torch": ("sympy>=1.13",)},
        doubled=("torch",),
    )


@pytest.mark.parametrize("name", sorted(ANSWER))
def test_an_answer_without_a_field_is_none(name: str) -> None:
    partial = {key: value for key, value in ANSWER.items() if key != name}
    with pytest.raises(CouldNotLook, match=name):
        parse_interpreter(json.dumps(partial), PYTHON)


@given(st.text())
def test_no_text_is_taken_for_an_interpreter(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_interpreter(text, PYTHON)


def done(rc: int | None = 1, err: str = "", **more: bool) -> Completed:
    return Completed(command="c", rc=rc, err=err, **more)  # type: ignore[arg-type]  # flags only


@pytest.mark.parametrize(
    "err",
    [
        "python: error while loading shared libraries: libpython3.12.so.1.0: cannot open shared object file",
        "Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding",
        "/bin/sh: 1: exec: cannot execute binary file: Exec format error",
    ],
)
def test_what_keeps_an_interpreter_from_starting(err: str) -> None:
    assert start_fault(done(err=f"noise\n{err}\nmore")) == f"it does not start: {err}"


def test_what_is_no_fault_of_the_start() -> None:
    assert start_fault(done(rc=0, err="Fatal Python error: in a text")) == ""
    assert start_fault(done(err="Traceback (most recent call last):\nKeyError: 'x'")) == ""
    assert start_fault(done(rc=None, timed_out=True)) == ""
    assert start_fault(done(rc=-9)) == ""
    assert start_fault(done(rc=None, found=False)) == (
        "it does not start: the loader or the #! line that it names is gone"
    )
