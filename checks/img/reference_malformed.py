"""The name of an image is invalid.

## What it does
Applies to runs with agents in sandboxes. Reads the image of every row of the dataset, adds the prefix as the runtime does, and parses it as registries do:
registry, path, tag, digest.

## Why it breaks training
Podman tries an invalid name several times before it gives up, for each rollout again. If a program expects a list and
gets a text, it pulls the letters one by one. A prefix that is added twice, capital letters or a second tag give
`invalid reference format`, and the rollout is lost.

## How to fix
Correct the rows, or `sandbox.image_prefix`. Write names as `docker.io/user/name:tag`, in lower case.

## Example
    Error: short-name "d" did not resolve to an alias and no unqualified-search registries are defined
    Error: parsing reference "docker.io/Namanjain12/pandas_final:ab": repository name must be lowercase
"""

from collections.abc import Iterator

from checks.img.shared import NAMED
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Severity
from skyrl_doctor.facts.images.needed import NeededImages

OTHER_DATA = "use a data set of tasks with images (`skyrl-train data convert`)"
FEWER_ROWS = "remove these rows: they cannot start a sandbox"


@check("IMG002", fix="skyrl_train/contracts/sandbox/references.py")
def reference_malformed(needed: NeededImages) -> Iterator[Finding]:
    bad = needed.bad
    if bad:
        yield Finding(
            message=(f"{len(bad)} of {len(needed.named)} image names are invalid: {bad[0].name[:80]!r}: {bad[0].why}"),
            evidence=tuple(f"{found.name[:160]!r}: {found.why}" for found in bad[:NAMED]),
            location=Location(needed.files[0]),
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG, summary="correct the names in the dataset, or sandbox.image_prefix"
            ),
        )
    if needed.without:
        whole = needed.without == needed.rows
        yield Finding(
            message=f"{needed.without} of {needed.rows} rows name no sandbox image; expected one in each",
            location=Location(needed.files[0]),
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=OTHER_DATA if whole else FEWER_ROWS),
            severity=Severity.ERROR if whole else Severity.WARNING,
        )
