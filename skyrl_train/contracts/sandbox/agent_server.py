"""What is known of the real agent server: where its images keep it, where it listens, which routes it has.

Clients start it by a path, and images differ: those built for the target `source` have another one. Between versions it
changed where it listens and how files are sent; a client and a server of different ages do not find each other.
"""

import re
from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

BINARY = "/usr/local/bin/openhands-agent-server"
"""What clients start, for the target type `binary`, which is their default."""
SOURCE = "/agent-server/.venv/bin/python"
"""What an image of the target `source` has instead; it holds no binary."""

BINARY_TARGETS = ("binary-minimal", "binary")
SOURCE_TARGETS = ("source-minimal", "source")
TARGET_OF = {"binary": BINARY_TARGETS, "source": SOURCE_TARGETS}
BUILD_TARGET = BINARY_TARGETS[0]  # FIX(IMG003) -- what the client's command needs, without an editor and a browser

REPOSITORY = "localhost/skyrl-derived"
"""Of the images that we derive from others to put it in."""

LOOPBACK_SINCE = (1, 38, 0)
"""Since then a server without a key listens on 127.0.0.1 of its own container, where nobody reaches it."""
QUERY_ROUTE_SINCE = (1, 19, 0)
PATH_ROUTE_UNTIL = (1, 20, 0)
"""1.19 had both forms of the file routes; before only /upload/PATH, afterwards only /upload?path=PATH."""

Version = tuple[int, int, int]
_VERSION = re.compile(r"\D{0,2}(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?=[^0-9]|$)")


def parse_version(text: str) -> Version | None:
    """`1.58.2`, `v1.20`; None where it is no version."""
    match = _VERSION.match(text.strip())
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


def render_version(version: Version) -> str:
    return ".".join(map(str, version))


def target_violations(*, target: str, target_type: str) -> Iterator[Violation]:
    """Whether an image built for `target` has what a client of `target_type` starts."""
    expected = TARGET_OF.get(target_type, BINARY_TARGETS)
    if target not in expected:
        yield Violation(
            key="sandbox.build_target",
            message=f"build target {target!r} puts no {_starts(target_type)} into the image; expected {expected[0]!r} or {expected[1]!r}",
            settings={"sandbox.build_target": expected[0]},
        )


def _starts(target_type: str) -> str:
    return SOURCE if target_type == "source" else BINARY


def listens_on_loopback_only(version: Version, *, has_key: bool) -> bool:
    """A key, or --host, makes it listen for others."""
    return version >= LOOPBACK_SINCE and not has_key


def server_routes(version: Version) -> frozenset[str]:
    """The forms of the file routes that an agent server has: "path", "query"."""
    path = {"path"} if version < PATH_ROUTE_UNTIL else set()
    query = {"query"} if version >= QUERY_ROUTE_SINCE else set()
    return frozenset(path | query)


def client_route(version: Version) -> str:
    """The form that a workspace client of this version uses."""
    return "query" if version >= QUERY_ROUTE_SINCE else "path"


def routes_differ(*, client: Version, server: Version) -> bool:
    """Whether every transfer of a file would be answered with 404."""
    return client_route(client) not in server_routes(server)
