"""IMG003, RUN008, RUN009: targets, addresses and routes by version."""

import pytest

from skyrl_train.contracts.sandbox.agent_server import (
    BUILD_TARGET,
    client_route,
    listens_on_loopback_only,
    parse_version,
    routes_differ,
    server_routes,
    target_violations,
)
from skyrl_train.contracts.violation import Violation


def test_what_is_built_has_what_clients_start() -> None:
    assert list(target_violations(target=BUILD_TARGET, target_type="binary")) == []


def test_a_source_target_has_no_binary() -> None:
    assert list(target_violations(target="source-minimal", target_type="binary")) == [
        Violation(
            key="sandbox.build_target",
            message=(
                "build target 'source-minimal' puts no /usr/local/bin/openhands-agent-server into the image; "
                "expected 'binary-minimal' or 'binary'"
            ),
            settings={"sandbox.build_target": "binary-minimal"},
        )
    ]
    assert list(target_violations(target="source", target_type="source")) == []
    assert len(list(target_violations(target="binary", target_type="source"))) == 1


@pytest.mark.parametrize(
    ("text", "version"),
    [("1.58.2", (1, 58, 2)), ("v1.38", (1, 38, 0)), ("1.20.0rc1", (1, 20, 0)), ("main", None), ("", None)],
)
def test_versions(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


def test_since_1_38_a_server_without_a_key_is_alone() -> None:
    assert listens_on_loopback_only((1, 38, 0), has_key=False)
    assert not listens_on_loopback_only((1, 37, 9), has_key=False)
    assert not listens_on_loopback_only((1, 58, 2), has_key=True)


def test_the_forms_of_the_file_routes() -> None:
    versions = ((1, 8, 2), (1, 19, 1), (1, 20, 0), (1, 58, 2))
    assert [sorted(server_routes(version)) for version in versions] == [
        ["path"],
        ["path", "query"],
        ["query"],
        ["query"],
    ]
    assert [client_route(version) for version in versions] == ["path", "query", "query", "query"]
    wrong = [(c, s) for c in versions for s in versions if routes_differ(client=c, server=s)]
    assert wrong == [
        ((1, 8, 2), (1, 20, 0)),
        ((1, 8, 2), (1, 58, 2)),
        ((1, 19, 1), (1, 8, 2)),
        ((1, 20, 0), (1, 8, 2)),
        ((1, 58, 2), (1, 8, 2)),
    ]
