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
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.needed import NeededImages

OTHER_DATA = "use a data set of tasks with images (`skyrl-train data convert`)"
FEWER_ROWS = "remove these rows: they cannot start a sandbox"


SIGNATURES = (
    Signature(
        pattern=r"\b(?:repository name|reference)\b[^\n]{0,200}\bmust be lowercase\b|\binvalid (?:tag|reference format:|argument) [^\n]{0,200}\bmust be lowercase\b",
        sample="docker: invalid reference format: repository name (library/Own-Tasks) must be lowercase",
        explain="the name of an image has capital letters, or is another text in the place of a name",
        remedy="Write it in lower case (`docker.io/user/name:tag`); a tag may have capitals. A variable that is empty or holds a whole message gives the same error: print the command.",
        versions="docker, podman, buildkit, containerd",
    ),
    Signature(
        pattern=r"\binvalid reference format\b(?! ?(?:string|'))|\b(?:failed to parse|could not parse|couldn't parse) (?:the )?(?:image|stage) (?:name|reference)\b|\b(?:could not|unable to) parse (?:image )?reference\b|\b(?:repository|tag) can only contain the characters\b|\bInvalid image reference: |^\s{0,4}Error: invalid reference \S{1,300}\s*$|\bbase name \([^)\n]{1,200}\) should not be blank|\bInvalidImageName\b",
        sample='Error: normalizing name "docker.io/own//tasks": invalid reference format',
        explain="the name of an image is invalid",
        remedy="Write it as `docker.io/user/name:tag`: one tag, no spaces, no `https://`, no empty part. A variable that is empty, or an option behind the name, gives the same error: print the command.",
        versions="docker, podman, buildkit, kaniko, enroot, kubernetes, apple container",
        unless=r"(?i:verse|chapter|ResourceType|git\b)",
    ),
    Signature(
        pattern=r"\bshort-name \"[^\"/\n]{1,2}\" did not resolve to an alias",
        sample='Error: short-name "d" did not resolve to an alias and no unqualified-search registries are defined in "/etc/containers/registries.conf"',
        explain="the name of an image is a single letter: a program takes a text for a list of names",
        remedy='Give the names as a list (`["docker.io/user/name:tag"]`), or one name where one is expected.',
        versions="podman",
        refines=("IMG009",),
    ),
)


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
