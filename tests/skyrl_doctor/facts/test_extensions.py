"""The extension child's answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.extensions import Extensions, Tried, parse_extensions
from skyrl_doctor.machine.questions import Completed


def done(out: str = "", *, rc: int | None = 0, err: str = "") -> Completed:
    return Completed(command="child", rc=rc, out=out, err=err)


def test_reads_an_answer() -> None:
    rows = [["torch", "torch", ""], ["vllm", "/s/_C.so", "OSError: x"]]
    found = parse_extensions(done(json.dumps({"torch": "2.11.0", "tried": rows})))
    assert found == Extensions("2.11.0", (Tried("torch", "torch"), Tried("vllm", "/s/_C.so", "OSError: x")))
    assert found.failed == (Tried("vllm", "/s/_C.so", "OSError: x"),)


def test_a_crash_is_blamed_on_what_was_tried_last() -> None:
    err = "trying torch torch\nsome warning\ntrying flash-attn /my site/f.so\n"
    assert parse_extensions(done(rc=-11, err=err)) == Extensions(
        "", (Tried("flash-attn", "/my site/f.so", "ends the interpreter with signal 11"),)
    )


@pytest.mark.parametrize("rc", [-9, -15, 1, None])
def test_an_end_from_outside_or_of_the_child_itself_is_no_verdict(rc: int | None) -> None:
    with pytest.raises(CouldNotLook):
        parse_extensions(done(rc=rc, err="trying torch torch\n"))


def test_an_answer_that_tried_nothing_is_none() -> None:
    with pytest.raises(CouldNotLook, match="tried nothing"):
        parse_extensions(done('{"torch": "2.11.0", "tried": []}'))


@given(st.text(), st.sampled_from([0, 1, -9, -11]))
def test_no_text_is_taken_for_extensions_that_load(text: str, rc: int) -> None:
    with pytest.raises(CouldNotLook):
        parse_extensions(done(text, rc=rc, err=text.replace("trying", "")))
