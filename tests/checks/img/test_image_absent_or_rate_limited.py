"""IMG009."""

from dataclasses import replace

import pytest

from checks.img.image_absent_or_rate_limited import image_absent_or_rate_limited
from fakes.images import DATA, MOUNT, NAME, NEEDED, SUPPLY, stored
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.images.archive_indexes import ArchiveFault, ArchiveIndexes
from skyrl_doctor.facts.images.needed import NeededImages
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.facts.images.supply import ImageSupply
from skyrl_train.contracts.tasks.images import TaskImage
from support import judge, plan_of

KEY = "sandbox.image_archive"
WITH_ARCHIVE = plan_of(data__train_files=[DATA], sandbox__inject="mount", sandbox__image_archive="/a")
RUNTIME, LOGIN = (Roles(frozenset({role}), asked=True) for role in (Role.RUNTIME, Role.LOGIN))
EMPTY = StoredImages(absent=(NAME,), of_dataset=True)
BEYOND = Finding(
    message=(
        "120 images must be pulled from Docker Hub without a login; it allows 100 in 6 hours, so 20 will be rejected"
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
    assert list(image_absent_or_rate_limited(MOUNT, needed, store, SUPPLY, None, RUNTIME)) == [BEYOND]
    login = replace(SUPPLY, logins=("docker.io",))
    assert list(image_absent_or_rate_limited(MOUNT, needed, store, login, None, RUNTIME)) == []
    mirrored = plan_of(data__train_files=[DATA], sandbox__inject="mount", sandbox__image_mirror="mirror.site/hub")
    assert list(image_absent_or_rate_limited(mirrored, needed, store, SUPPLY, None, RUNTIME)) == []


def test_finds_what_the_archive_lacks() -> None:
    other = ImageSupply(archive="/a", archives=frozenset({"other.tar"}))
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, EMPTY, other, None, RUNTIME)) == [
        archive_finding(
            f"1 images are neither in the store nor in /a: {NAME}",
            "save them there, or remove their rows",
            "expected localhost_sandbox_r2e.tar or similar",
        )
    ]
    gone = ImageSupply(archive="/a", archives=None)
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, EMPTY, gone, None, RUNTIME)) == [
        archive_finding("/a does not exist; expected the directory of image archives", "correct the path")
    ]


def test_what_is_there_is_no_fault() -> None:
    full = ImageSupply(archive="/a", archives=frozenset({"localhost_sandbox_r2e.tar"}))
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, EMPTY, full, None, RUNTIME)) == []
    assert list(image_absent_or_rate_limited(MOUNT, NEEDED, stored(), SUPPLY, None, RUNTIME)) == []


def test_a_login_node_finds_what_an_archive_lacks() -> None:
    """Whatever its own store holds: the job's store is another one."""
    other = ImageSupply(archive="/a", archives=frozenset({"other.tar"}))
    missing = archive_finding(
        f"1 of 1 images are not in /a: {NAME}",
        "save them there, or remove their rows",
        "expected localhost_sandbox_r2e.tar or similar",
    )
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, stored(), other, None, LOGIN)) == [missing]
    guessed = replace(LOGIN, asked=False)
    found = list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, None, other, None, guessed))
    assert found == [replace(missing, severity=Severity.WARNING)]
    full = ImageSupply(archive="/a", archives=frozenset({"localhost_sandbox_r2e.tar"}))
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, None, full, None, LOGIN)) == []


FULL = ImageSupply(archive="/a", archives=frozenset({"localhost_sandbox_r2e.tar"}))
DAMAGED = ArchiveIndexes(read=1, of=1, bad=(ArchiveFault("localhost_sandbox_r2e.tar", NAME, "is empty"),))


def test_finds_an_archive_that_cannot_be_loaded() -> None:
    """On a login node, and on the runtime's node if the store lacks the image."""
    bad = archive_finding(
        "1 archive in /a cannot be loaded: localhost_sandbox_r2e.tar is empty",
        "save these images again with `podman save`, or remove their rows",
    )
    guessed = replace(LOGIN, asked=False)
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, None, FULL, DAMAGED, LOGIN)) == [
        replace(bad, severity=Severity.ERROR)
    ]
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, None, FULL, DAMAGED, guessed)) == [
        replace(bad, severity=Severity.WARNING)
    ]
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, EMPTY, FULL, DAMAGED, RUNTIME)) == [
        replace(bad, severity=Severity.ERROR)
    ]
    assert list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, stored(), FULL, DAMAGED, RUNTIME)) == []


@pytest.mark.parametrize(
    ("indexes", "message"),
    [
        (
            ArchiveIndexes(read=1, of=1, unread=(ArchiveFault("b.tar", NAME, "is packed twice"),)),
            "1 archive in /a could not be checked: b.tar is packed twice",
        ),
        (ArchiveIndexes(read=7, of=9), "2 archives in /a could not be checked: only 7 were read within the limits"),
    ],
)
def test_an_archive_that_cannot_be_judged_is_information(indexes: ArchiveIndexes, message: str) -> None:
    expected = archive_finding(message, "to check an archive, run `podman load --input ARCHIVE`")
    found = list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, None, FULL, indexes, LOGIN))
    assert found == [replace(expected, severity=Severity.INFO)]


@pytest.mark.parametrize(
    ("supply", "roles"),
    [
        (SUPPLY, LOGIN),
        (ImageSupply(archive="/a"), LOGIN),
        (ImageSupply(archive="/a", archives=frozenset("x")), RUNTIME),
    ],
)
def test_without_an_archive_or_a_store_there_is_nothing_to_compare(supply: ImageSupply, roles: Roles) -> None:
    with pytest.raises(NotApplicable):
        list(image_absent_or_rate_limited(WITH_ARCHIVE, NEEDED, None, supply, None, roles))


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG009", "images_not_pulled", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG009", slug="image-absent-or-rate-limited", status=Status.FAIL, findings=(BEYOND,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG009", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG009", slug="image-absent-or-rate-limited", status=Status.PASS
    )
