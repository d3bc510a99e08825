"""RUN001."""

from dataclasses import replace

import pytest

from checks.run.api_key_mismatch import api_key_mismatch
from fakes.runtimes import JOB, KEY_FILE, OURS, PLACE, URL, answers
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from support import judge

FILE = f"{JOB}/runtime_api_key.txt"
ASKED = ("GET /sessions/doctor-probe with X-API-Key",)
ONE_FILE = "let both jobs read the key file of the runtime, runtime_api_key.txt in the job directory"


def refused(who: str, status: int = 401, variable: str = "") -> Finding:
    return Finding(
        message=f"{URL} rejects {who} with {status}; expected the key that it was started with",
        evidence=ASKED,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary=ONE_FILE,
            commands=(f'export {variable}="$(cat JOB_DIR_OF_THE_RUNTIME/runtime_api_key.txt)"',) if variable else (),
        ),
    )


def test_finds_a_key_that_is_refused() -> None:
    assert list(api_key_mismatch(answers(401))) == [refused(FILE)]
    assert list(api_key_mismatch(answers(403))) == [refused(FILE, 403)]
    without = replace(PLACE, key_from="", key_file=None)
    assert list(api_key_mismatch(answers(401, place=without))) == [refused("no key", variable="ALLHANDS_API_KEY")]
    variable = replace(PLACE, key_from="env SANDBOX_API_KEY", key_file=None)
    assert list(api_key_mismatch(answers(401, place=variable))) == [
        refused("$SANDBOX_API_KEY", variable="SANDBOX_API_KEY")
    ]


@pytest.mark.parametrize("status", [200, 404])
def test_finds_a_runtime_that_takes_any_key(status: int) -> None:
    assert list(api_key_mismatch(answers(wrong=status))) == [
        Finding(
            message=f"{URL} accepts any key: it answered {status} to a wrong one; expected 401",
            evidence=ASKED,
            remedy=Remedy(
                kind=RemedyKind.FIX_ENV,
                summary="turn on its authentication: everyone who can reach it can run commands as you",
            ),
            severity=Severity.WARNING,
        )
    ]


def test_finds_a_key_file_that_others_may_read() -> None:
    place = replace(PLACE, key_file=replace(KEY_FILE, mode=0o644))
    assert list(api_key_mismatch(answers(place=place))) == [
        Finding(
            message=f"{FILE} has mode 0644, so others can read the key; expected 0600",
            remedy=Remedy(
                kind=RemedyKind.FIX_ENV,
                summary="restrict the file to yourself",
                commands=(f"chmod 600 {FILE}",),
                safe=True,
            ),
            severity=Severity.WARNING,
        )
    ]


def test_a_runtime_that_does_not_answer_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"runtime_url\.txt\): Connection refused$"):
        list(api_key_mismatch(answers(None)))
    with pytest.raises(CouldNotLook, match="with a wrong key"):
        list(api_key_mismatch(answers(404, None)))


def test_the_right_key_is_no_fault() -> None:
    assert list(api_key_mismatch(answers())) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("RUN001", "runtime_refuses_key", plan=OURS, role=Role.GPU) == Outcome(
        id="RUN001", slug="api-key-mismatch", status=Status.FAIL, findings=(refused(FILE),)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN001", "clean_runtime_up", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="RUN001", slug="api-key-mismatch", status=Status.PASS
    )
