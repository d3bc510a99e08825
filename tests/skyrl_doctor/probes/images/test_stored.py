"""Which images are here: in the store, or in a shared one that it reads."""

import json

import pytest

from fakes.images import DATA
from fakes.podman_store import Bare, store
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.podman.books import PodmanBooks
from skyrl_doctor.facts.podman.settings import BrokenFile, StorageConf
from skyrl_doctor.probes.images.stored import stored_images
from skyrl_train.contracts.tasks.images import TaskImage

NAMES = ("docker.io/a/bc:1", "docker.io/a/bd:1")
NEEDED = NeededImages(
    files=(DATA,), rows=2, without=0, named=tuple(TaskImage(name, "r2e-gym") for name in NAMES), prefix="docker.io/"
)
SHARED = store(storage=StorageConf(path="/s.conf", driver="overlay", additional_stores=("/shared",)))
BOOK = "read /shared/overlay-images/images.json"


def test_an_image_of_a_shared_store_is_not_absent() -> None:
    machine = Bare({BOOK: json.dumps([{"id": "1", "names": [NAMES[0]]}])})
    assert stored_images(machine, SHARED, PodmanBooks(), None, NEEDED) == StoredImages(
        absent=(NAMES[1],), all_names=frozenset({NAMES[0]}), of_dataset=True
    )


def test_a_shared_store_that_is_not_there_holds_nothing() -> None:
    assert stored_images(Bare({}), SHARED, PodmanBooks(), None, NEEDED).absent == NAMES


def test_a_book_that_does_not_read_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match="what the shared store holds stays unknown"):
        stored_images(Bare({BOOK: "{"}), SHARED, PodmanBooks(), None, NEEDED)
    broken = PodmanBooks(broken=(BrokenFile("/g/layers.json", "is empty"),))
    with pytest.raises(CouldNotLook, match=r"layers\.json is empty \(POD006\)$"):
        stored_images(Bare({}), store(), broken, None, NEEDED)
