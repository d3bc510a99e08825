"""SLM004."""

import pytest

from checks.slm.runtime_url_contaminated import runtime_url_contaminated
from fakes.runtimes import JOB, OURS
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.facts.runtime import RuntimeUrls, SaidUrl
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

LOG = "[INFO] waiting for the runtime\n[INFO] ready\nhttp://cpu-node-03:8000\n"
REMEDY = Remedy(kind=RemedyKind.FIX_ENV, summary="take it from the file that the runtime writes, and log to stderr")
PLAN = plan_of(sandbox__runtime_url="node07:8000")


def said(text: str, by: str = "$SANDBOX_REMOTE_RUNTIME_API_URL", plan: Plan = PLAN) -> list[Finding]:
    return list(runtime_url_contaminated(plan, RuntimeUrls((SaidUrl(by, text),))))


def finding(by: str, shown: str, place: Location | None) -> Finding:
    message = f"{by} holds {shown}; wanted one URL alone, such as http://node07:8000"
    return Finding(message=message, location=place, remedy=REMEDY)


def test_finds_log_lines_in_the_url() -> None:
    file = f"{JOB}/runtime_url.txt"
    assert said(LOG, file) == [finding(file, f"{LOG!r}, 3 lines", Location(file))]


@pytest.mark.parametrize("text", ["", "  ", "node07:8000", "ready http://node07:8000", "ftp://node07"])
def test_finds_what_is_no_url(text: str) -> None:
    name = "$SANDBOX_REMOTE_RUNTIME_API_URL"
    assert said(text) == [finding(name, repr(text), None)]
    key = "sandbox.runtime_url"
    assert said(text, key) == [finding(key, repr(text), Location("plan.toml", None, key))]


def test_one_url_is_no_fault() -> None:
    assert said("http://node07:8000\n") == said("https://runtime.site") == []


def test_reproduces_on_a_recording() -> None:
    file = f"{JOB}/runtime_url.txt"
    assert judge("SLM004", "runtime_url_with_log_lines", plan=OURS, role=Role.GPU) == Outcome(
        id="SLM004",
        slug="runtime-url-contaminated",
        status=Status.FAIL,
        findings=(finding(file, f"{LOG!r}, 3 lines", Location(file)),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("SLM004", "clean_runtime_up", plan=OURS, role=Role.GPU) == Outcome(
        id="SLM004", slug="runtime-url-contaminated", status=Status.PASS
    )
