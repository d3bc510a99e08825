"""IMG003."""

import pytest

from checks.img.wrong_build_target import wrong_build_target
from fakes.images import BUILD, FILE, MOUNT, NAME, OTHERS, at, stored, unseen
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE
from support import judge

FOUND = Finding(
    message=f"1 of 1 images have {SOURCE} but no {BINARY}: {NAME}",
    evidence=(f"build target 'source-minimal' puts no {BINARY} into the image; expected 'binary-minimal' or 'binary'",),
    remedy=Remedy(
        kind=RemedyKind.REBUILD_IMAGE,
        summary="rebuild them with the target binary-minimal",
        commands=("skyrl-train images build plan.toml",),
    ),
)


def test_finds_an_image_of_the_source_target() -> None:
    assert list(wrong_build_target(OTHERS, stored(at(SOURCE, FILE)))) == [FOUND]
    assert list(wrong_build_target(BUILD, stored(at(SOURCE, FILE)))) == [FOUND]


def test_other_images_are_no_fault() -> None:
    both = at(BINARY, FILE, at(SOURCE, FILE))
    assert [list(wrong_build_target(OTHERS, stored(image))) for image in (both, at(BINARY, FILE))] == [[], []]
    assert list(wrong_build_target(MOUNT, stored(at(SOURCE, FILE)))) == []  # its own server is not used


def test_what_cannot_be_seen_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"Permission denied$"):
        list(wrong_build_target(OTHERS, stored(unseen(SOURCE))))


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG003", "agent_server_of_source_target", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="IMG003", slug="wrong-build-target", status=Status.FAIL, findings=(FOUND,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG003", "clean_runtime_node", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="IMG003", slug="wrong-build-target", status=Status.PASS
    )
