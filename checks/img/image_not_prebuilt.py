"""Images that the run needs are not on the node yet.

## What it does
Compares the images of the dataset with those in the job's store and in the archive directory.

## Why it breaks training
A rollout whose image is not there waits for it: minutes for a pull, five for a build of the agent server, with nothing
in the log. All rollouts of the first step wait at once, and the GPU with them; a time limit that was made for a start
ends them (RUN003).

## How to fix
Fetch them before the job takes a GPU, on the runtime node and in the job's environment: `skyrl-train images pull`, or
`build` where `sandbox.inject = "build"`. It can be ended at any moment and goes on where it was.

## Example
    Image namanjain12/pandas_final:ab12 not found locally, building...
"""

from collections.abc import Iterator

from checks.img.shared import ahead, inject_of, listed
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role, Severity
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.sandbox.agent_server import REPOSITORY
from skyrl_train.contracts.sandbox.supply import archive_of


@check("IMG005", roles=[Role.RUNTIME], fix="skyrl_train/sandbox/fetch.py")
def image_not_prebuilt(
    plan: Plan, needed: NeededImages, stored: StoredImages, supply: ImageSupply
) -> Iterator[Finding]:
    references = needed.references
    archives = supply.archives or frozenset()
    far = [name for name in stored.absent if archive_of(references[name], archives) is None]
    built = inject_of(plan) == "build"
    if far:
        yield _not_here(plan, far, len(references), "build" if built else "pull")
    derived = sum(name.startswith(f"{REPOSITORY}:") for name in stored.all_names)
    if built and not far and derived < len(references):
        yield _not_built(plan, derived, len(references))


def _not_here(plan: Plan, far: list[str], needed: int, verb: str) -> Finding:
    return Finding(
        message=(
            f"{len(far)} of {needed} images are not in the store: {listed(far)}; "
            "wanted all of them before the first step"
        ),
        evidence=("each first rollout waits for its image: about two minutes to pull, five to build",),
        remedy=ahead(plan, verb, "fetch them ahead, on this node and in the job's environment"),
        severity=Severity.WARNING,
    )


def _not_built(plan: Plan, derived: int, needed: int) -> Finding:
    return Finding(
        message=f"the store holds {derived} images with the agent server built in; the dataset needs {needed}",
        evidence=("each first rollout waits for its build, two to five minutes",),
        remedy=ahead(plan, "build", "build them ahead, on this node and in the job's environment"),
        severity=Severity.WARNING,
    )
