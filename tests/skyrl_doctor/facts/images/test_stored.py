"""An image's configuration and users, and how a rootless container sees ids."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.images import DATA
from fakes.podman_store import Bare, store
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import (
    IdMap,
    ImageConfig,
    StoredImages,
    parse_image_config,
    parse_passwd,
    stored_images,
)
from skyrl_doctor.facts.podman.settings import BrokenFile, StorageConf
from skyrl_doctor.facts.podman.store_index import StoreIndex
from skyrl_doctor.facts.podman.subids import Range
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.tasks.images import TaskImage
from support import plan_of


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


NAMES = ("docker.io/a/bc:1", "docker.io/a/bd:1")
NEEDED = NeededImages(
    files=(DATA,), rows=2, without=0, named=tuple(TaskImage(name, "r2e-gym") for name in NAMES), prefix="docker.io/"
)
SHARED = store(storage=StorageConf(path="/s.conf", driver="overlay", additional_stores=("/shared",)))
BOOK = "read /shared/overlay-images/images.json"


def test_without_a_target_no_image_is_judged() -> None:
    with pytest.raises(NotApplicable) as reason:
        stored_images(Bare({}), Plan(), store(), StoreIndex(), None, None)
    assert str(reason.value) == "no target names the images of a run, and others in the store are not judged"
    assert (
        stored_images(Bare({}), plan_of(data__train_files=[DATA]), store(), StoreIndex(), None, None) == StoredImages()
    )


def test_an_image_of_a_shared_store_is_not_absent() -> None:
    machine = Bare({BOOK: json.dumps([{"id": "1", "names": [NAMES[0]]}])})
    assert stored_images(machine, Plan(), SHARED, StoreIndex(), None, NEEDED) == StoredImages(
        absent=(NAMES[1],), all_names=frozenset({NAMES[0]}), of_dataset=True
    )


def test_a_shared_store_that_is_not_there_holds_nothing() -> None:
    assert stored_images(Bare({}), Plan(), SHARED, StoreIndex(), None, NEEDED).absent == NAMES


def test_a_book_that_does_not_read_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match="the contents of the shared store are unknown"):
        stored_images(Bare({BOOK: "{"}), Plan(), SHARED, StoreIndex(), None, NEEDED)
    broken = StoreIndex(broken=(BrokenFile("/g/layers.json", "is empty"),))
    with pytest.raises(CouldNotLook, match=r"layers\.json is empty \(POD006\)$"):
        stored_images(Bare({}), Plan(), store(), broken, None, NEEDED)
