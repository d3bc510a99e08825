"""A name of an image that no registry takes.

## What it does
Reads the image of every row of the dataset, puts the prefix before it as the runtime does, and parses it as registries
do: registry, path, tag, digest.

## Why it breaks training
Podman tries a bad name several times before it gives up, for each rollout anew. A name that a program took apart is
worse: a list was wanted, a text was given, and its letters are pulled one by one. A prefix that is put on twice, capitals
or a second tag give `invalid reference format`, and the rollout is lost.

## How to fix
Correct the rows, or `sandbox.image_prefix`. Names are written `docker.io/user/name:tag`, in small letters.

## Example
    Error: short-name "d" did not resolve to an alias and no unqualified-search registries are defined
    Error: parsing reference "docker.io/Namanjain12/pandas_final:ab": repository name must be lowercase
"""

from collections.abc import Iterator

from checks.img.shared import NAMED
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Severity
from skyrl_doctor.facts.images.needed import NeededImages


@check("IMG002", fix="skyrl_train/contracts/sandbox/references.py")
def reference_malformed(needed: NeededImages) -> Iterator[Finding]:
    bad = needed.bad
    if bad:
        yield Finding(
            message=(
                f"{len(bad)} of {len(needed.named)} names of images cannot be used: {bad[0].name[:80]!r}: {bad[0].why}"
            ),
            evidence=tuple(f"{found.name[:160]!r}: {found.why}" for found in bad[:NAMED]),
            location=Location(needed.files[0]),
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG, summary="correct the names in the dataset, or sandbox.image_prefix"
            ),
        )
    if needed.without:
        yield Finding(
            message=f"{needed.without} of {needed.rows} rows name no image; wanted one each",
            location=Location(needed.files[0]),
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="drop these rows: they can start no sandbox"),
            severity=Severity.ERROR if needed.without == needed.rows else Severity.WARNING,
        )
