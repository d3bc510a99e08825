"""Shared by the checks of images: lists of names, the runtime that starts sandboxes, and the command to run before a job."""

import shlex
from collections.abc import Iterable, Sequence

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Remedy, RemedyKind
from skyrl_doctor.facts.images.stored import StoredImage, StoredImages
from skyrl_doctor.plan.model import Plan

INJECT, AGENT_SERVER = "sandbox.inject", "sandbox.agent_server"
NAMED = 5


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """`a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def inject_of(plan: Plan) -> str | None:
    """How our runtime gives an image its agent server; None where another runtime starts the sandboxes."""
    return plan.text(INJECT)


def looked_into(stored: StoredImages) -> tuple[StoredImage, ...]:
    """The images, where there are some."""
    if not stored.images:
        raise NotApplicable(
            "the store has none of the dataset's images yet" if stored.of_dataset else "the store has no image"
        )
    return stored.images


def unless_unseen(images: Iterable[StoredImage], paths: Sequence[str]) -> None:
    """Raises where an image could not be seen at one of these paths: then silence is no verdict."""
    for image in images:
        if any(path not in image.nodes for path in paths):
            why = image.unread[0] if image.unread else "nothing is known about it"
            raise CouldNotLook(f"image {image.label}: {why}")


def ahead(plan: Plan, verb: str, summary: str) -> Remedy:
    """`skyrl-train images VERB TARGET`, on the runtime node and in the job's environment."""
    target = shlex.join(plan.targets[-1:]) or "TARGET"
    return Remedy(kind=RemedyKind.REBUILD_IMAGE, summary=summary, commands=(f"skyrl-train images {verb} {target}",))
