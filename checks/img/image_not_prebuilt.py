"""Images of the dataset are not on the node yet.

## What it does
Compares the images of the dataset with those in the job's store and in the archive directory. An image under `localhost/`
was built on a machine, and no registry has it.

## Why it breaks training
A rollout waits for its missing image: minutes for a pull, five for a build of the agent server, without a line in the
log. All rollouts of the first step wait at the same time, and so does the GPU. A start-up timeout ends them (RUN003).

## How to fix
Pull them before the job gets a GPU, on the runtime node and in the job's environment: `skyrl-train images pull`, or
`build` if `sandbox.inject = "build"`. You can stop the command at any time; it continues where it stopped. Build an
image under `localhost/` on the runtime node, or load it there with `podman load`.

## Example
    Image namanjain12/pandas_final:ab12 not found locally, building...
"""

from collections.abc import Iterator

from checks.img.shared import ahead, inject_of, listed
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import REPOSITORY
from skyrl_train.contracts.sandbox.supply import archive_of

LOCAL = "localhost/"


@check("IMG005", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/fetch.py")
def image_not_prebuilt(
    plan: Plan, needed: NeededImages, stored: StoredImages, supply: ImageSupply
) -> Iterator[Finding]:
    references = needed.references
    archives = supply.archives or frozenset()
    far = [name for name in stored.absent if archive_of(references[name], archives) is None]
    built = inject_of(plan) == "build"
    own = [name for name in far if name.startswith(LOCAL)]
    if pulled := [name for name in far if name not in own]:
        yield _not_here(plan, pulled, len(references), "build" if built else "pull")
    if own:
        yield _only_local(own, len(references))
    derived = sum(name.startswith(f"{REPOSITORY}:") for name in stored.all_names)
    if built and not far and derived < len(references):
        yield _not_built(plan, derived, len(references))


def _only_local(names: list[str], needed: int) -> Finding:
    return Finding(
        message=(
            f"{len(names)} of {needed} images are not in the store, and no registry has them: {listed(names)}; "
            "expected all of them before the first step"
        ),
        evidence=(f"{LOCAL} is Podman's name for what was built on a machine or loaded from a file",),
        remedy=Remedy(
            kind=RemedyKind.REBUILD_IMAGE,
            summary="build them with `podman build`, or load them with `podman load`, on this node and in the job's environment",
        ),
        severity=Severity.WARNING,
    )


def _not_here(plan: Plan, far: list[str], needed: int, verb: str) -> Finding:
    return Finding(
        message=(
            f"{len(far)} of {needed} images are not in the store: {listed(far)}; expected all of them before the first step"
        ),
        evidence=("each first rollout waits for its image: about two minutes to pull, five to build",),
        remedy=ahead(plan, verb, f"{verb} them before the job, on this node and in the job's environment"),
        severity=Severity.WARNING,
    )


def _not_built(plan: Plan, derived: int, needed: int) -> Finding:
    return Finding(
        message=f"the store has {derived} images with a built-in agent server, but the dataset needs {needed}",
        evidence=("each first rollout waits for its build, two to five minutes",),
        remedy=ahead(plan, "build", "build them before the job, on this node and in the job's environment"),
        severity=Severity.WARNING,
    )
