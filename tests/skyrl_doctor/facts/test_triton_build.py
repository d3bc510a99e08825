"""The compile child's answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.triton_build import Built, TritonBuild, parse_triton_build

GCC = """/tmp/x/main.c:1:10: fatal error: Python.h: No such file or directory
    1 | #include <Python.h>
      |          ^~~~~~~~~~
compilation terminated.
"""
STEP = {"rc": 0, "said": "", "limit_s": 8.0}
ANSWER = {
    "version": "3.12",
    "include": "/inc",
    "header": True,
    "cc": None,
    "compiler": "/usr/bin/gcc",
    "compile": STEP,
    "libcuda": None,
}


def parsed(**changes: object) -> TritonBuild:
    return parse_triton_build(json.dumps({**ANSWER, **changes}), who="child", gpu_here=False)


def test_reads_an_answer() -> None:
    assert parsed() == TritonBuild(
        compiler="/usr/bin/gcc", version="3.12", include="/inc", header=True, compiled=Built(ok=True)
    )
    assert parsed(cc="", compiler="").cc == ""


def test_the_lines_that_name_an_error() -> None:
    built = parsed(compile={**STEP, "rc": 1, "said": GCC}).compiled
    assert built == Built(ok=False, said=GCC)
    assert built.errors == ("/tmp/x/main.c:1:10: fatal error: Python.h: No such file or directory",)
    assert Built(ok=False, said="Permission denied: ''").errors == ("Permission denied: ''",)
    assert Built(ok=False).errors == ()


@pytest.mark.parametrize("step", ["compile", "libcuda"])
def test_a_step_without_an_end_is_no_answer(step: str) -> None:
    with pytest.raises(CouldNotLook, match="no answer within 8 s"):
        parsed(**{step: {**STEP, "rc": None}})


@given(st.text())
def test_no_text_is_taken_for_a_compiler_that_works(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_triton_build(text, who="child", gpu_here=False)


@given(st.integers(), st.text())
def test_only_status_zero_is_success(code: int, said: str) -> None:
    built = parsed(compile={"rc": code, "said": said, "limit_s": 8.0}).compiled
    assert built is not None
    assert built.ok == (code == 0)
    assert len(built.errors) <= 3
