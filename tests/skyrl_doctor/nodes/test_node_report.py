"""A node's letter comes back as it was, and nothing else is taken for one."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report_samples import MIXED
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.nodes.node_report import Clock, read, write


def test_comes_back_as_it_was() -> None:
    letter = read(write("gpu1", MIXED, clock=Clock(0.25, 0.001), unreached=""), "gpu1")
    assert letter.outcomes == MIXED.outcomes
    assert (letter.node, letter.clock, letter.unreached) == ("gpu1", Clock(0.25, 0.001), "")
    assert (letter.roles, letter.dialect) == (MIXED.roles, MIXED.dialect)
    assert read(write("gpu1", MIXED, clock=None, unreached="no route"), "gpu1").unreached == "no route"


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"schema": 2, "node": "gpu1"}', "{", "7"])
def test_what_is_no_letter_is_not_looked_at(text: str) -> None:
    with pytest.raises(CouldNotLook):
        read(text, "gpu1")


def test_another_node_s_letter_is_not_this_one_s() -> None:
    with pytest.raises(CouldNotLook, match="of node gpu1"):
        read(write("gpu1", MIXED, clock=None, unreached=""), "gpu2")


@given(st.data())
def test_no_damage_is_taken_for_health(data: st.DataObject) -> None:
    said = json.loads(write("n", MIXED, clock=None, unreached=""))
    where = data.draw(st.sampled_from([*sorted(said["report"]), "traits", "clock", "report"]))
    odd: st.SearchStrategy[object] = st.sampled_from([None, 7, "x", [1], {}])
    wrong = data.draw(odd)
    (said if where in said else said["report"])[where] = wrong
    with contextlib.suppress(CouldNotLook):
        assert len(read(json.dumps(said), "n").outcomes) in (0, len(MIXED.outcomes))
