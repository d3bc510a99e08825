"""IMG008."""

from dataclasses import replace

import pytest

from checks.img.glibc_too_old_in_image import glibc_too_old_in_image
from fakes.images import BUILD, DATA, FILE, IMAGE, MOUNT, NAME, OTHERS, at, stored
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_train.contracts.sandbox.agent_server import BINARY
from support import judge, plan_of

SUMMARY = "mount sandboxd, which works with the image's own C library, or build the agent server on an older system"


def finding(system: str, library: str, severity: Severity = Severity.WARNING) -> Finding:
    return Finding(
        message=(
            f"1 of 1 images have a C library that is too old for the agent server: {NAME}; {NAME} is {system} with {library}; expected glibc 2.36 or later"
        ),
        location=Location("plan.toml", None, "sandbox.inject"),
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=SUMMARY, settings={"sandbox.inject": '"mount"'}),
        severity=severity,
    )


def test_finds_an_older_library_where_the_program_is_built_in() -> None:
    assert list(glibc_too_old_in_image(BUILD, stored())) == [finding("ubuntu 22.04", "glibc 2.35")]
    alpine = replace(IMAGE, os_release="ID=alpine\nVERSION_ID=3.20.1\n")
    musl = finding("alpine 3.20.1", "musl, and no glibc", Severity.ERROR)
    assert list(glibc_too_old_in_image(BUILD, stored(alpine))) == [musl]


def test_sandboxd_and_newer_systems_have_no_such_need() -> None:
    assert list(glibc_too_old_in_image(MOUNT, stored())) == []
    assert list(glibc_too_old_in_image(OTHERS, stored())) == []  # it holds no such program
    assert len(list(glibc_too_old_in_image(OTHERS, stored(at(BINARY, FILE))))) == 1
    newer = replace(IMAGE, os_release='ID=debian\nVERSION_ID="12"\n')
    assert list(glibc_too_old_in_image(BUILD, stored(newer))) == []


@pytest.mark.parametrize("inject", ["mount", "build"])
def test_an_environment_brings_its_own_library(inject: str) -> None:
    plan = plan_of(data__train_files=[DATA], sandbox__inject=inject, sandbox__agent_server="/srv/environment")
    with pytest.raises(NotApplicable, match=r"^sandbox\.agent_server has its own C library; if it is the released"):
        list(glibc_too_old_in_image(plan, stored()))


def test_a_system_that_is_not_known_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"^image localhost/sandbox:r2e: its distribution is unknown$"):
        list(glibc_too_old_in_image(BUILD, stored(replace(IMAGE, os_release=""))))


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG008", "clean_runtime_node", plan=BUILD, role=Role.RUNTIME) == Outcome(
        id="IMG008",
        slug="glibc-too-old-in-image",
        status=Status.FAIL,
        findings=(finding("Ubuntu 22.04.4 LTS", "glibc 2.35"),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG008", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG008", slug="glibc-too-old-in-image", status=Status.PASS
    )
