"""RUN009."""

from dataclasses import replace

import pytest

from checks.run.file_route_skew import file_route_skew
from fakes.runtimes import CANARY, OTHERS, OURS
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from support import judge

REMEDY = Remedy(
    kind=RemedyKind.REBUILD_IMAGE,
    summary='install the same version on both sides, or mount sandboxd: sandbox.inject = "mount"',
)
OLD = replace(CANARY, server_version="1.8.2")


def interpreter(**packages: str) -> Interpreter:
    return Interpreter(
        python=TrainingPython("/opt/train/bin/python", "test"),
        version="3.12.1",
        implementation="cpython",
        platform="linux",
        machine="x86_64",
        prefix="/opt/train",
        base_prefix="/usr",
        include="/usr/include",
        header=True,
        packages={name.replace("_", "-"): version for name, version in packages.items()},
    )


NEWER = interpreter(openhands_workspace="1.58.0")


def skew(client: str, form: str, server: str) -> Finding:
    return Finding(
        message=(
            f"openhands-workspace {client} sends files to {form}, which agent server {server} does not have; expected the same version on both sides"
        ),
        remedy=REMEDY,
    )


def test_finds_versions_that_do_not_fit() -> None:
    assert list(file_route_skew(OTHERS, NEWER, OLD)) == [skew("1.58.0", "/api/file/upload?path=PATH", "1.8.2")]
    older = interpreter(openhands_workspace="1.8.2")
    assert list(file_route_skew(OTHERS, older, CANARY)) == [skew("1.8.2", "/api/file/upload/PATH", "1.58.0")]


def test_finds_an_upload_without_a_route() -> None:
    seen = replace(CANARY, failures=(("RUN009", "upload: 404"),))
    assert list(file_route_skew(OURS, None, seen)) == [
        Finding(
            message="files cannot be sent to the sandbox, because its agent server has no such route",
            evidence=("upload: 404",),
            remedy=REMEDY,
        )
    ]


def test_versions_that_fit_and_sandboxd_are_no_fault() -> None:
    assert list(file_route_skew(OTHERS, NEWER, CANARY)) == []
    assert list(file_route_skew(OURS, NEWER, OLD)) == []


def test_what_does_not_run_yet_cannot_be_judged() -> None:
    for interpreter_, seen in ((NEWER, None), (None, CANARY), (interpreter(), CANARY)):
        with pytest.raises(NotApplicable):
            list(file_route_skew(OTHERS, interpreter_, seen))


def test_reproduces_on_a_recording() -> None:
    assert judge("RUN009", "agent_server_of_another_age", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="RUN009",
        slug="file-route-skew",
        status=Status.FAIL,
        findings=(skew("1.58.0", "/api/file/upload?path=PATH", "1.8.2"),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN009", "clean_runtime_up", plan=OTHERS, role=Role.RUNTIME) == Outcome(
        id="RUN009", slug="file-route-skew", status=Status.PASS
    )
