"""An image of an R2E-Gym task has no tests or no script to run them.

## What it does
Looks into the layers of the images for the tests (`/r2e_tests`, or in the repository) and for `run_tests.sh`. It
checks the images in the store and the first few archives of `sandbox.image_archive`.

## Why it breaks training
The usual preparation assumes `/r2e_tests`. It fails on images with their tests in another directory, and links the
directory into itself when it runs twice. A sandbox without tests cannot be scored. If that counts as 0, the model
learns that its answer was wrong.

## How to fix
The preparation in skyrl_train/tasks/r2e_sandbox.py finds the tests in either place and can run twice; a rollout
without tests is masked and counted. Remove the rows with an image that has no tests.

## Example
    find: '/r2e_tests': No such file or directory
    ln: failed to create symbolic link '/testbed/r2e_tests/r2e_tests': No such file or directory
"""

from collections.abc import Iterator

from checks.img.shared import listed, looked_into, unless_unseen
from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.images.archived import ArchivedImages
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import RUNNERS, TESTBED, TESTS, StoredImage, StoredImages
from skyrl_train.contracts.tasks.rows import R2E_GYM

CAUSE = "the image has its tests in another directory; mask a sample without tests instead of scoring it 0"

SIGNATURES = (
    Signature(
        pattern=r"/r2e_tests.?: No such file or directory|failed to create symbolic link .{0,80}r2e_tests",
        sample="find: '/r2e_tests': No such file or directory",
        explain=CAUSE,
        versions="R2E-Gym",
    ),
    Signature(
        pattern=r"(?:cannot stat|cannot access|can't open file|not found:?|No such file or directory:) .{0,20}(?:/root|/testbed)?/r2e_tests|not found: r2e_tests\b|/r2e_tests\S{0,40}\)? (?:does not exist|not found|could not be found)|/r2e_tests\S{0,80} (?:[Cc]annot stat|failed): No such file|/r2e_tests\S{0,80}.{0,4}: No such file|\b(?:ba|da)?sh: (?:line \d{1,5}: |\d{1,5}: )?(?:/root|/testbed)?/run_tests\.sh: (?:No such file|not found)",
        sample="mv: cannot stat '/r2e_tests': No such file or directory",
        explain=CAUSE,
        versions="R2E-Gym",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\br2e_tests\b.{{0,80}}\b{LACK}|\b(?:no|missing|without) r2e_tests\b",
    sample="ERROR image x/y:z: r2e_tests is missing",
    explain=CAUSE,
    versions="any",
)


@check("IMG006", roles=[Role.RUNTIME], fix="skyrl_train/tasks/r2e_sandbox.py")
def r2e_tests_missing(
    stored: StoredImages, archived: ArchivedImages | None, needed: NeededImages | None
) -> Iterator[Finding]:
    archives = archived.images if archived is not None else ()
    images = [image for image in (*stored.images, *archives) if _is_r2e(image, needed)]
    if not images:
        if archived is not None and not archives and _wants_r2e(needed):
            raise CouldNotLook(f"none of {archived.of} image archives could be read within the time limit")
        looked_into(stored)
        raise NotApplicable("none of the images here belongs to an R2E-Gym task")
    empty = [image for image in images if image.has(*TESTS) is False or image.has(*RUNNERS) is False]
    if not empty:
        unless_unseen([image for image in images if not image.has(*TESTS) or not image.has(*RUNNERS)], TESTS + RUNNERS)
        return
    yield Finding(
        message=(
            f"{len(empty)} of {len(images)} images have no tests that can run: {listed([image.label for image in empty])}; expected {TESTS[0]} and {RUNNERS[0]} in each, because a rollout without tests is masked"
        ),
        evidence=tuple(f"{image.label}: {_lacks(image)}" for image in empty[:3]),
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="remove these tasks from the dataset"),
        severity=Severity.ERROR if len(empty) == len(images) else Severity.WARNING,
    )


def _wants_r2e(needed: NeededImages | None) -> bool:
    return needed is None or any(R2E_GYM in needed.sources(image.name) for image in needed.named)


def _is_r2e(image: StoredImage, needed: NeededImages | None) -> bool:
    if needed is None:
        return image.has(TESTBED) is not False
    return any(R2E_GYM in needed.sources(name) for name in image.names)


def _lacks(image: StoredImage) -> str:
    lacking = [places for places in (TESTS, RUNNERS) if image.has(*places) is False]
    return "; ".join(f"none of {', '.join(places)}" for places in lacking)
