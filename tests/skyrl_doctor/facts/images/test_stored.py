"""An image's configuration and users, and how a rootless container sees ids."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.images.stored import IdMap, ImageConfig, parse_image_config, parse_passwd
from skyrl_doctor.facts.podman.subids import Range


@pytest.mark.parametrize(
    ("config", "found"),
    [
        (
            {"config": {"Entrypoint": ["tini", "--"], "User": "me", "Labels": {"a": "b", "c": 1}}, "rootfs": {}},
            ImageConfig(entrypoint=("tini", "--"), user="me", labels={"a": "b"}),
        ),
        ({"config": {"Entrypoint": None, "User": None, "Labels": None}}, ImageConfig()),
        ({"config": {"Entrypoint": "/bin/sh"}}, ImageConfig(entrypoint=("/bin/sh",))),
        ({"rootfs": {}}, ImageConfig()),
        ({}, None),
        ([], None),
    ],
)
def test_configurations(config: object, found: ImageConfig | None) -> None:
    assert parse_image_config(json.dumps(config)) == found


@given(st.text())
def test_no_text_is_taken_for_a_configuration_by_accident(text: str) -> None:
    assert parse_image_config(text) is None or text.lstrip().startswith("{")
    assert all(isinstance(uid, int) for uid in parse_passwd(text).values())


def test_users() -> None:
    assert parse_passwd("root:x:0:0:root:/root:/bin/sh\nbroken\nme:x:ten:0\n") == {"root": 0}


def test_ids_of_a_rootless_container() -> None:
    map_ = IdMap(own=1000, ranges=(Range(100_000, 10), Range(300_000, 65_536)))
    assert [map_.inside(id_) for id_ in (1000, 100_000, 100_009, 300_000, 310_000, 5)] == [0, 1, 10, 11, 10_011, None]
