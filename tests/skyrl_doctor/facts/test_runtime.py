"""What the canary said, and the URL of a job."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.runtime import Canary, parse_canary
from skyrl_train.launch.url import one_url
from skyrl_train.sandbox.client.canary import CanaryResult

SEEN = {
    "asked": 2,
    "worked": 1,
    "failures": [["RUN010", "503"]],
    "start_s": [0.5],
    "command_s": [0.01],
    "has_key": True,
    "server_version": "1.58.0",
    "wrong_key_refused": None,
    "left": 0,
}


def test_reads_what_the_canary_prints() -> None:
    canary = parse_canary(json.dumps(SEEN))
    assert canary == Canary(
        asked=2, worked=1, failures=(("RUN010", "503"),), start_s=(0.5,), has_key=True, server_version="1.58.0"
    )
    assert (canary.of("RUN010"), canary.of("RUN001"), canary.slowest_s) == (("503",), (), 0.5)
    assert set(SEEN) == set(CanaryResult.__dataclass_fields__)


@pytest.mark.parametrize("text", ["", "{}", '{"why": "no httpx"}', json.dumps({**SEEN, "start_s": ["x"]})])
def test_no_sighting_is_never_a_good_one(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_canary(text)


@given(st.dictionaries(st.sampled_from(list(SEEN)), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_any_answer_is_read_or_refused(answer: dict[str, object]) -> None:
    with pytest.raises(CouldNotLook):
        parse_canary(json.dumps({**answer, "failures": 3}))


@given(st.text())
def test_a_url_is_one_line(text: str) -> None:
    url = one_url(text)
    assert url is None or (url in text and len(url.split()) == 1 and url.startswith("http"))
