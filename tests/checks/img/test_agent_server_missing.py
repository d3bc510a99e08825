"""IMG001."""

import pytest

from checks.img.agent_server_missing import agent_server_missing
from fakes.images import BUILD, FILE, MOUNT, NAME, OTHERS, at, stored, unseen
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_train.contracts.sandbox.agent_server import BINARY, SOURCE
from support import judge

FOUND = Finding(
    message=f"1 of 1 images hold no {BINARY}, which clients start: {NAME}",
    evidence=(f"{NAME}: neither {BINARY} nor {SOURCE} is in its layers",),
    remedy=Remedy(
        kind=RemedyKind.REBUILD_IMAGE,
        summary="build the agent server into them, or start them with skyrl-train runtime serve",
        commands=("skyrl-train images build plan.toml",),
    ),
)


def test_finds_an_image_as_it_comes() -> None:
    assert list(agent_server_missing(OTHERS, stored())) == [FOUND]


def test_our_runtime_brings_one() -> None:
    assert [list(agent_server_missing(plan, stored())) for plan in (MOUNT, BUILD)] == [[], []]


def test_an_image_that_has_one_is_no_fault() -> None:
    assert list(agent_server_missing(OTHERS, stored(at(BINARY, FILE)))) == []
    assert list(agent_server_missing(OTHERS, stored(at(SOURCE, FILE)))) == []  # IMG003 tells of that


def test_what_cannot_be_seen_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"^image localhost/sandbox:r2e: /layer.*: Permission denied$"):
        list(agent_server_missing(OTHERS, stored(unseen(BINARY))))
    with pytest.raises(NotApplicable, match=r"^the store holds no image$"):
        list(agent_server_missing(OTHERS, StoredImages()))


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG001", "clean_runtime_node", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="IMG001", slug="agent-server-missing", status=Status.FAIL, findings=(FOUND,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG001", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="IMG001", slug="agent-server-missing", status=Status.PASS
    )
