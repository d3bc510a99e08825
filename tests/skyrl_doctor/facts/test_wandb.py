"""The answer of the wandb child."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.wandb import Credential, WandbLogin, parse_login

ANSWER = {
    "url": "https://api.wandb.ai",
    "url_from": "",
    "host": "api.wandb.ai",
    "mode": None,
    "mode_from": "",
    "credentials": [["/home/trainer/.netrc", ""]],
    "note": "",
}


def test_reads_an_answer() -> None:
    assert parse_login(json.dumps(ANSWER)) == WandbLogin(
        url="https://api.wandb.ai", host="api.wandb.ai", credential=Credential("/home/trainer/.netrc")
    )
    without = {**ANSWER, "credentials": [], "mode": "offline", "mode_from": "WANDB_MODE", "note": "none"}
    assert parse_login(json.dumps(without)) == WandbLogin(
        url="https://api.wandb.ai", host="api.wandb.ai", mode="offline", mode_from="WANDB_MODE", note="none"
    )


@pytest.mark.parametrize(
    "change",
    [{"credentials": None}, {"credentials": [["x"]]}, {"credentials": [[1, 2]]}, {"host": None}, {"mode": 1}],
)
def test_what_is_no_answer_is_not_looked(change: dict[str, object]) -> None:
    with pytest.raises(CouldNotLook, match="its answer has"):
        parse_login(json.dumps({**ANSWER, **change}))


@given(
    st.text() | st.dictionaries(st.sampled_from(sorted(ANSWER)), st.none() | st.text() | st.integers()).map(json.dumps)
)
def test_no_garbage_is_a_login(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_login(text)
