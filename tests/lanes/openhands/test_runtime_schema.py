"""schemathesis over the server's OpenAPI: whatever is sent, and in whatever order, no answer is a crash."""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import hypothesis
import pytest

from fakes.engine import IMAGE
from fakes.runtime import KEY, SETTINGS
from fakes.serving import http_server
from skyrl_train.sandbox.runtime.openapi import DOCUMENT

pytestmark = pytest.mark.openhands
EXAMPLES, RUNS, STEPS = 12, 12, 10
KEYS = {"X-API-Key": KEY}
ON_PURPOSE = (501, 502, 503)
"""Each with a sentence that says why: not done here, what the engine refused, not now."""
OPERATIONS = {f"{verb.upper()} {path}" for path, verbs in DOCUMENT["paths"].items() for verb in verbs}
SEEN: Counter[tuple[str, int]] = Counter()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = replace(SETTINGS, slots=2, queue=4, hold_s=5.0)
    with http_server(tmp_path_factory.mktemp("schema"), settings=settings) as url:
        yield url


@pytest.fixture(autouse=True)
def _no_crash_is_hidden(url: str, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Not even one behind an answer that was sent already, or in a task of the server's own."""
    import httpx

    with caplog.at_level(logging.ERROR):
        yield
        assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    told = httpx.get(f"{url}/events", headers=KEYS, trust_env=False).json()["events"]
    assert [entry for entry in told if entry["event"] == "crashed"] == []


def schema_of(url: str) -> Any:
    import schemathesis

    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", headers=KEYS)

    @schema.hook  # type: ignore[untyped-decorator]
    def map_body(context: Any, body: Any) -> Any:
        """Half of the bodies name an image that there is, and one of a few sessions: random words would start nothing."""
        if not isinstance(body, dict) or "image" not in body or len(str(body["image"])) % 2:
            return body
        count = {name: value for name, value in body.items() if name == "count"}
        return {**count, "image": IMAGE, "session_id": f"s{len(str(body.get('session_id'))) % 3}"}

    return schema


def judge(case: Any, answer: Any) -> None:
    from schemathesis.checks import not_a_server_error

    SEEN[f"{case.method} {case.path}", answer.status_code] += 1
    if answer.status_code in ON_PURPOSE:
        assert answer.json()["detail"], answer.text
        return
    case.validate_response(answer, checks=[not_a_server_error])
    assert answer.status_code < 500


def test_no_answer_is_a_crash(url: str) -> None:
    for found in schema_of(url).get_all_operations():
        operation = found.ok()

        @hypothesis.settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            judge(case, case.call(headers=KEYS))

        ask()
    assert {name for name, _ in SEEN} == OPERATIONS
    assert {status for _, status in SEEN} >= {200, 400, 404}, SEEN


def test_no_order_of_requests_is_a_crash(url: str) -> None:
    """Sessions are started, and stopped, paused, resumed and asked for by the ids that their starts gave."""
    machine = schema_of(url).as_state_machine()

    class Machine(machine):  # type: ignore[misc, valid-type]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:  # noqa: ARG002 -- the interface
            return {"headers": KEYS}

        def validate_response(self, response: Any, case: Any, **_more: Any) -> None:
            judge(case, response)

    SEEN.clear()
    Machine.run(
        settings=hypothesis.settings(
            max_examples=RUNS,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
    )
    assert {name for name, status in SEEN if status == 200} >= {"POST /start", "POST /stop"}, SEEN
    assert {name for name, status in SEEN if status in (200, 409)} >= {"POST /pause", "POST /resume"}, SEEN
