"""schemathesis over the server's OpenAPI: whatever is sent, no answer is a crash."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.runtime import KEY, SETTINGS
from fakes.serving import http_server

pytestmark = pytest.mark.openhands
EXAMPLES = 12


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with http_server(tmp_path, settings=replace(SETTINGS, slots=2, queue=4, hold_s=0.05)) as url:
        yield url


def test_no_answer_is_a_crash(url: str) -> None:
    import hypothesis
    import schemathesis
    from schemathesis.checks import not_a_server_error

    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", headers={"X-API-Key": KEY})
    seen: dict[str, int] = {}

    for found in schema.get_all_operations():
        operation = found.ok()

        @hypothesis.settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(case=operation.as_strategy())
        def ask(case: object) -> None:
            answer = case.call(headers={"X-API-Key": KEY})  # type: ignore[attr-defined]
            seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
            if answer.status_code not in (501, 502, 503):  # said on purpose, with a reason
                case.validate_response(answer, checks=[not_a_server_error])  # type: ignore[attr-defined]
            assert answer.status_code != 500

        ask()
    assert set(seen) >= {200, 400, 404}, seen
