"""IMG005."""

from dataclasses import replace

from checks.img.image_not_prebuilt import image_not_prebuilt
from fakes.images import BUILD, MOUNT, NAME, NEEDED, SUPPLY, stored
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_train.contracts.tasks.images import TaskImage
from support import judge

EMPTY = StoredImages(absent=(NAME,), of_dataset=True)
FAR = "docker.io/namanjain12/pandas_final:ab12"
WAITS = "each first rollout waits for its image: about two minutes to pull, five to build"


def finding(verb: str, seen: str, evidence: str, summary: str) -> Finding:
    return Finding(
        message=seen,
        evidence=(evidence,),
        remedy=Remedy(
            kind=RemedyKind.REBUILD_IMAGE,
            summary=f"{summary} before the job, on this node and in the job's environment",
            commands=(f"skyrl-train images {verb} plan.toml",),
        ),
        severity=Severity.WARNING,
    )


def test_finds_images_that_are_not_there() -> None:
    seen = f"1 of 1 images are not in the store: {FAR}; expected all of them before the first step"
    rows = replace(NEEDED, named=(TaskImage(FAR, "r2e"),))
    absent = StoredImages(absent=(FAR,), of_dataset=True)
    assert list(image_not_prebuilt(MOUNT, rows, absent, SUPPLY)) == [finding("pull", seen, WAITS, "pull them")]
    assert list(image_not_prebuilt(BUILD, rows, absent, SUPPLY)) == [finding("build", seen, WAITS, "build them")]


def test_an_image_that_no_registry_has_is_built_or_loaded_and_not_pulled() -> None:
    rows = replace(NEEDED, named=(TaskImage(NAME, "r2e"), TaskImage(FAR, "r2e")))
    absent = StoredImages(absent=(NAME, FAR), of_dataset=True)
    pulled, built = image_not_prebuilt(MOUNT, rows, absent, SUPPLY)
    assert pulled.message == f"1 of 2 images are not in the store: {FAR}; expected all of them before the first step"
    assert built == Finding(
        message=(
            f"1 of 2 images are not in the store, and no registry has them: {NAME}; "
            "expected all of them before the first step"
        ),
        evidence=("localhost/ is Podman's name for what was built on a machine or loaded from a file",),
        remedy=Remedy(
            kind=RemedyKind.REBUILD_IMAGE,
            summary="build them with `podman build`, or load them with `podman load`, on this node and in the job's environment",
        ),
        severity=Severity.WARNING,
    )


def test_finds_images_that_are_not_built() -> None:
    assert list(image_not_prebuilt(BUILD, NEEDED, stored(), SUPPLY)) == [
        finding(
            "build",
            "the store has 0 images with a built-in agent server, but the dataset needs 1",
            "each first rollout waits for its build, two to five minutes",
            "build them",
        )
    ]


def test_what_is_here_or_in_the_archive_is_no_fault() -> None:
    archive = ImageSupply(archive="/a", archives=frozenset({"localhost_sandbox_r2e.tar"}))
    assert list(image_not_prebuilt(MOUNT, NEEDED, EMPTY, archive)) == []
    assert list(image_not_prebuilt(MOUNT, NEEDED, stored(), SUPPLY)) == []


def test_reproduces_on_a_recording() -> None:
    outcome = judge("IMG005", "images_not_pulled", plan=MOUNT, role=Role.RUNTIME)
    names = ", ".join(f"docker.io/namanjain12/pandas_final:{number:040x}" for number in range(5))
    seen = f"120 of 120 images are not in the store: {names} and 115 more; expected all of them before the first step"
    assert outcome == Outcome(
        id="IMG005",
        slug="image-not-prebuilt",
        status=Status.FAIL,
        findings=(finding("pull", seen, WAITS, "pull them"),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG005", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG005", slug="image-not-prebuilt", status=Status.PASS
    )
