"""IMG005."""

from checks.img.image_not_prebuilt import image_not_prebuilt
from fakes.images import BUILD, MOUNT, NAME, NEEDED, SUPPLY, stored
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from support import judge

EMPTY = StoredImages(absent=(NAME,), of_dataset=True)
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
    seen = f"1 of 1 images are not in the store: {NAME}; expected all of them before the first step"
    assert list(image_not_prebuilt(MOUNT, NEEDED, EMPTY, SUPPLY)) == [finding("pull", seen, WAITS, "pull them")]
    assert list(image_not_prebuilt(BUILD, NEEDED, EMPTY, SUPPLY)) == [finding("build", seen, WAITS, "build them")]


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
