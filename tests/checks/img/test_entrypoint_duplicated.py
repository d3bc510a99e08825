"""IMG004."""

from dataclasses import replace

import pytest

from checks.img.entrypoint_duplicated import entrypoint_duplicated
from fakes.images import IMAGE, MOUNT, NAME, OTHERS, stored
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE
from support import judge


def finding(entrypoint: tuple[str, ...]) -> Finding:
    return Finding(
        message=(
            "1 of 1 images start the agent server by their entrypoint, and clients name it in their command too: "
            f"{NAME}; wanted an entrypoint that is overridden"
        ),
        evidence=(f"{NAME}: Entrypoint {list(entrypoint)}",),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="start sandboxes with skyrl-train runtime serve, or have the runtime pass --entrypoint",
        ),
        severity=Severity.WARNING,
    )


@pytest.mark.parametrize("entrypoint", [(BINARY,), ("tini", "--", BINARY)])
def test_finds_both_forms_of_the_entrypoint(entrypoint: tuple[str, ...]) -> None:
    image = replace(IMAGE, entrypoint=entrypoint)
    assert list(entrypoint_duplicated(OTHERS, stored(image))) == [finding(entrypoint)]
    assert list(entrypoint_duplicated(MOUNT, stored(image))) == []


def test_another_entrypoint_is_no_fault() -> None:
    assert list(entrypoint_duplicated(OTHERS, stored(replace(IMAGE, entrypoint=("/bin/bash",))))) == []


def test_a_configuration_that_is_not_read_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"^cut off$"):
        list(entrypoint_duplicated(OTHERS, stored(replace(IMAGE, unread=("cut off",)))))


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG004", "agent_server_of_source_target", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="IMG004",
        slug="entrypoint-duplicated",
        status=Status.FAIL,
        findings=(finding(("tini", "--", SOURCE, "-m", "openhands.agent_server")),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG004", "clean_runtime_node", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="IMG004", slug="entrypoint-duplicated", status=Status.PASS
    )
