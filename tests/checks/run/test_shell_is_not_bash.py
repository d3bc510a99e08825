"""RUN006."""

import pytest

from checks.run.shell_is_not_bash import shell_is_not_bash
from fakes.images import MOUNT, NAME, at, stored, unseen
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.plan.model import Plan, Value
from skyrl_train.contracts.sandbox.shell import BASH
from support import judge

BARE = Finding(
    message=f"1 of 1 images have no {BASH}, which runs the task's scripts: {NAME}",
    remedy=Remedy(kind=RemedyKind.REBUILD_IMAGE, summary="install bash in these images, or drop their tasks"),
)
PLACE = Location("task.yaml", 7, "workspace.setup_commands")


def plan(value: object) -> Plan:
    return Plan(("task.yaml",), "skyrl-agent", own={PLACE.key or "": Value(PLACE.key or "", value, PLACE)})


@pytest.mark.parametrize("value", ["source /x && [[ -d y ]]", ["ls", "source /x", "[[ -d y ]]"]])
def test_finds_commands_for_bash(value: object) -> None:
    assert list(shell_is_not_bash(plan(value), None)) == [
        Finding(
            message=(
                "workspace.setup_commands uses source, [[ ]], which only bash understands; commands are run by /bin/sh"
            ),
            location=PLACE,
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG, summary="run it as `/bin/bash script.sh`, or write it for /bin/sh"
            ),
        )
    ]


def test_commands_for_sh_are_no_fault() -> None:
    assert list(shell_is_not_bash(plan([". /x", "bash -c 'source /x'", 3]), None)) == []


def test_finds_images_without_bash() -> None:
    assert list(shell_is_not_bash(MOUNT, stored(at(BASH, None)))) == [BARE]


def test_what_is_not_there_or_not_seen() -> None:
    with pytest.raises(NotApplicable):
        list(shell_is_not_bash(MOUNT, None))
    with pytest.raises(CouldNotLook):
        list(shell_is_not_bash(MOUNT, stored(unseen(BASH))))


def test_reproduces_on_a_recording() -> None:
    assert judge("RUN006", "r2e_image_without_tests", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="RUN006", slug="shell-is-not-bash", status=Status.FAIL, findings=(BARE,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN006", "clean_runtime_node", plan=MOUNT, role=Role.RUNTIME) == Outcome(
        id="RUN006", slug="shell-is-not-bash", status=Status.PASS
    )
