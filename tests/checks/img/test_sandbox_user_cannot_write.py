"""IMG007."""

from dataclasses import replace

import pytest

from checks.img.sandbox_user_cannot_write import sandbox_user_cannot_write
from fakes.images import DATA, IMAGE, MOUNT, NAME, OTHERS, at, stored, unseen
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.facts.images.stored import TESTBED, Node
from support import judge, plan_of

AS_USER = plan_of(data__train_files=[DATA], sandbox__inject="mount", sandbox__run_as_root=False)
KEY = "sandbox.run_as_root"
SUMMARY = "run sandboxes as root: inside a rootless container, root has only your own rights"


def finding(user: str, settings: dict[str, str]) -> Finding:
    return Finding(
        message=(
            f"1 of 1 images would run as user {user!r}, who cannot write to /testbed: {NAME}; expected root or the owner of its files"
        ),
        evidence=(f"{NAME}: user {user!r}; /testbed belongs to 0:0, mode 755",),
        location=Location("plan.toml", None, KEY),
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=SUMMARY, settings=settings),
    )


@pytest.mark.parametrize("user", ["openhands", "10001", "10001:10001"])
def test_finds_a_user_who_may_not_write(user: str) -> None:
    image = replace(IMAGE, user=user, users={"root": 0, "openhands": 10001})
    (found,) = sandbox_user_cannot_write(AS_USER, stored(image))
    assert found.remedy == Remedy(kind=RemedyKind.FIX_CONFIG, summary=SUMMARY, settings={KEY: "true"})
    assert len(list(sandbox_user_cannot_write(OTHERS, stored(image)))) == 1
    assert list(sandbox_user_cannot_write(MOUNT, stored(image))) == []


def test_whoever_may_write_is_no_fault() -> None:
    theirs = at(TESTBED, Node(kind="dir", mode=0o755, uid=10001, gid=0), replace(IMAGE, user="10001"))
    free = at(TESTBED, Node(kind="dir", mode=0o777, uid=0, gid=0), replace(IMAGE, user="10001"))
    gone = at(TESTBED, None, replace(IMAGE, user="10001"))
    for image in (theirs, free, gone, replace(IMAGE, user="root")):
        assert list(sandbox_user_cannot_write(AS_USER, stored(image))) == []


def test_a_user_or_owner_that_cannot_be_told_is_unknown() -> None:
    nobody = replace(IMAGE, user="somebody")
    strange = at(TESTBED, Node(kind="dir", mode=0o755, uid=None, gid=None), replace(IMAGE, user="10001"))
    for image in (nobody, strange, replace(unseen(TESTBED), user="10001")):
        with pytest.raises(CouldNotLook):
            list(sandbox_user_cannot_write(AS_USER, stored(image)))


def test_reproduces_on_a_recording() -> None:
    assert judge("IMG007", "agent_server_of_source_target", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="IMG007", slug="sandbox-user-cannot-write", status=Status.FAIL, findings=(finding("openhands", {}),)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("IMG007", "clean_runtime_node", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="IMG007", slug="sandbox-user-cannot-write", status=Status.PASS
    )
