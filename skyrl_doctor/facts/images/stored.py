"""The images of a store as its files show them: their configuration, and what lies at the paths that matter."""

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.subids import Range
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE
from skyrl_train.contracts.sandbox.shell import BASH

TESTBED = "/testbed"
TESTS = ("/r2e_tests", "/testbed/r2e_tests", "/root/r2e_tests")
RUNNERS = ("/testbed/run_tests.sh", "/root/run_tests.sh")
OS_RELEASE = "/etc/os-release"
PATHS = (BINARY, SOURCE, BASH, TESTBED, *TESTS, *RUNNERS)


@record(kw_only=True)
class Node:
    """What lies at a path of an image. `uid` and `gid` are the container's; None where no range says which they are."""

    kind: str
    mode: int
    uid: int | None
    gid: int | None


@record(kw_only=True)
class IdMap:
    """How a rootless container sees the ids of this machine: root is the user himself, the rest are his ranges in order."""

    own: int
    ranges: tuple[Range, ...] = ()

    def inside(self, id_: int) -> int | None:
        if id_ == self.own:
            return 0
        first = 1
        for found in self.ranges:
            if id_ in found:
                return first + id_ - found.first
            first += found.count
        return None


@record(kw_only=True)
class StoredImage:
    """`names` as the store has them. `nodes` holds None for what is not there; `unread` says what could not be seen."""

    id: str
    names: tuple[str, ...]
    entrypoint: tuple[str, ...] = ()
    user: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, Node | None] = field(default_factory=dict)
    os_release: str = ""
    users: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return self.names[0] if self.names else self.id[:12]

    def has(self, *paths: str) -> bool | None:
        """Whether one of the paths is there; None where that could not be seen."""
        if any(self.nodes.get(path) is not None for path in paths):
            return True
        return None if any(path not in self.nodes for path in paths) else False


@record(kw_only=True)
class StoredImages:
    """`images` are those that the run needs, or all of a store where nobody says; `absent` those that are not there.

    `beyond` were too many to look into.
    """

    images: tuple[StoredImage, ...] = ()
    absent: tuple[str, ...] = ()
    all_names: frozenset[str] = frozenset()
    beyond: int = 0
    of_dataset: bool = False


@record(kw_only=True)
class ImageConfig:
    entrypoint: tuple[str, ...] = ()
    user: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


def parse_image_config(text: str) -> ImageConfig | None:
    """An image's configuration (OCI or Docker): {"config": {"Entrypoint": […], "User": "", "Labels": {…}}}."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    config = found.get("config") if isinstance(found, dict) else None
    if config is None and isinstance(found, dict) and "rootfs" in found:
        return ImageConfig()
    if not isinstance(config, dict):
        return None
    user, labels = config.get("User"), config.get("Labels")
    return ImageConfig(
        entrypoint=_words(config.get("Entrypoint")),
        user=user if isinstance(user, str) else "",
        labels={name: value for name, value in labels.items() if isinstance(value, str)}
        if isinstance(labels, dict)
        else {},
    )


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()


def parse_passwd(text: str) -> dict[str, int]:
    """Users of an image's /etc/passwd and their numbers."""
    rows = (line.split(":") for line in text.splitlines())
    return {row[0]: int(row[2]) for row in rows if len(row) >= 3 and row[2].isascii() and row[2].isdigit()}
