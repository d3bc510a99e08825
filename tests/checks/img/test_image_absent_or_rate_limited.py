"""IMG009."""

from dataclasses import replace

from checks.img.image_absent_or_rate_limited import image_absent_or_rate_limited
from fakes.images import DATA, MOUNT, NAME, NEEDED, SUPPLY, stored
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_train.contracts.tasks.images import TaskImage
from support import judge, plan_of

KEY = "sandbox.image_archive"
WITH_ARCHIVE = plan_of(data__train_files=[DATA], sandbox__inject="mount", sandbox__image_archive="/a")
EMPTY = StoredImages(absent=(NAME,), of_dataset=True)
BEYOND = Finding(
    message=(
        "120 images have to be pulled from Docker Hub without a login; it gives 100 in 6 hours, so 20 will be refused"
    ),
    remedy=Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="log in, or load the images from archives or a mirror",
        commands=("podman login docker.io",),
    ),
    severity=Severity.WARNING,
)


def archive_finding(message: str, summary: str, *evidence: str) -> Finding:
    remedy = Remedy(kind=RemedyKind.FIX_CONFIG, summary=summary)
    return Finding(message=message, evidence=evidence, location=Location("plan.toml", None, KEY), remedy=remedy)


def test_finds_more_images_than_the_registry_gives() -> None:
    names = [f"docker.io/namanjain12/pandas_final:{number}" for number in range(120)]
    named = tuple(TaskImage(name, "r2e-gym") for name in names)
    needed = NeededImages(files=(DATA,), rows=120, without=0, named=named, prefix="docker.io/")
    store = StoredImages(absent=tuple(names), of_dataset=True)
    assert list(image_absent_or_rate_limited(MOUNT, needed, store, SUPPLY)) == [BEYOND]
    login = replace(SUPPLY, logins=("docker.io",))
    assert list(image_absent_or_rate_limited(MOUNT, needed, store, login)) == []
    mirrored = plan_of(data__train_files=[DATA], sandbox__inject="mount", sandbox__image_mirror="mirror.site/hub")
    assert list(image_absent_or_rate_limited(mirrored, needed, store, SUPPLY)) == []


def test_finds_what_the_archive_lacks() -> None:
    other = ImageSupply(archive="/a", archives=frozenset({"other.tar"}))
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, EMPTY, other)) == [
        archive_finding(
            f"1 images are neither in the store nor in /a: {NAME}",
            "save them there, or drop their rows",
            "wanted localhost_sandbox_r2e.tar and the like",
        )
    ]
    gone = ImageSupply(archive="/a", archives=None)
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, EMPTY, gone)) == [
        archive_finding("/a is not there; wanted the directory of image archives", "correct it")
    ]


def test_what_is_there_is_no_fault() -> None:
    full = ImageSupply(archive="/a", archives=frozenset({"localhost_sandbox_r2e.tar"}))
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, EMPTY, full)) == []
    assert list(image_absent_or_rate_limited(MOUNT, NEEDED, stored(), SUPPLY)) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG009", "images_not_pulled", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG009", slug="image-absent-or-rate-limited", status=Status.FAIL, findings=(BEYOND,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG009", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG009", slug="image-absent-or-rate-limited", status=Status.PASS
    )
