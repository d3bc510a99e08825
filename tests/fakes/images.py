"""Images' facts made by hand, and the plans that the recorded machines' dataset belongs to."""

from dataclasses import replace
from typing import Any

from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import PATHS, RUNNERS, TESTBED, TESTS, Node, StoredImage, StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.shell import BASH
from skyrl_train.contracts.tasks.images import TaskImage
from support import plan_of

DATA = "/data/r2e/train.jsonl"
MOUNT: Plan = plan_of(data__train_files=[DATA], sandbox__inject="mount")
BUILD: Plan = plan_of(data__train_files=[DATA], sandbox__inject="build")
OTHERS: Plan = plan_of(data__train_files=[DATA])
"""Sandboxes are started by a runtime that is not ours."""
NAME = "localhost/sandbox:r2e"
DIRECTORY, FILE = (Node(kind=kind, mode=0o755, uid=0, gid=0) for kind in ("dir", "file"))
IMAGE = StoredImage(
    id="acee2f929904",
    names=(NAME,),
    nodes={
        **dict.fromkeys(PATHS),
        BASH: FILE,
        TESTBED: DIRECTORY,
        TESTS[0]: DIRECTORY,
        RUNNERS[0]: FILE,
    },
    os_release='ID=ubuntu\nVERSION_ID="22.04"\n',
)
NEEDED = NeededImages(files=(DATA,), rows=64, without=0, named=(TaskImage(NAME, "r2e-gym"),), prefix="docker.io/")
SUPPLY = ImageSupply()


def stored(*images: StoredImage, **more: Any) -> StoredImages:
    return StoredImages(images=images or (IMAGE,), all_names=frozenset({NAME}), of_dataset=True, **more)


def unseen(path: str) -> StoredImage:
    """The image with a path that could not be looked at."""
    nodes = {name: node for name, node in IMAGE.nodes.items() if name != path}
    return replace(IMAGE, nodes=nodes, unread=(f"/layer{path}: Permission denied",))


def at(path: str, node: Node | None, image: StoredImage = IMAGE) -> StoredImage:
    return replace(image, nodes={**image.nodes, path: node})
