"""Requests beside /start: what they are read into, and what is refused with 400."""

from collections.abc import Callable

import pytest

from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.runtime.requests import (
    EVENT_NUMBER,
    IDS,
    RUNTIME_ID,
    read_change,
    read_prewarm,
    read_start,
    read_value,
)
from skyrl_train.sandbox.start_request import StartRequest

IMAGE = "docker.io/a/bc"


def test_reads_each() -> None:
    assert read_start({"image": IMAGE, "session_id": "s1"}) == StartRequest(image=IMAGE, session_id="s1")
    prewarmed = StartRequest(image=IMAGE, session_id="prewarmed", resource_factor=2)
    assert read_prewarm({"image": IMAGE, "resource_factor": 2, "count": 3}) == (prewarmed, 3)
    assert read_prewarm({"image": IMAGE, "resource_factor": 2, "session_id": "s1"}) == (prewarmed, 1)
    assert read_change({"runtime_id": "skyrl-1"}) == "skyrl-1"
    assert read_value(IDS, "ids", {"ids": "a,,b"}) == ("a", "b")
    assert read_value(EVENT_NUMBER, "after", {}, "0") == "0"


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (
            lambda: read_start({"image": IMAGE, "session_id": "batch"}),
            "session_id: 'batch' is reserved; choose another",
        ),
        (lambda: read_prewarm({"image": IMAGE, "count": 0}), "count: expected an integer from 1 to 1024, found 0"),
        (lambda: read_prewarm([]), "body: expected a JSON object, found list"),
        (lambda: read_value(IDS, "ids", {"ids": "a," * 501}), "ids: expected at most 500 ids, found 501"),
        (
            lambda: read_value(EVENT_NUMBER, "after", {"after": "-1"}),
            "after: expected the number of an event, found '-1'",
        ),
    ],
)
def test_refuses(read: Callable[[], object], message: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read()
    assert (refused.value.status, str(refused.value)) == (400, message)


@pytest.mark.parametrize("body", [{}, {"runtime_id": 7}, {"runtime_id": "../x"}, None])
def test_a_runtime_id_is_a_name(body: object) -> None:
    with pytest.raises(RefusedError) as refused:
        read_change(body)
    assert refused.value.status == 400
    assert not RUNTIME_ID.allows("../x")
