"""SLM004."""

from typing import Any

import pytest

from checks.slm.runtime_url_contaminated import runtime_url_contaminated
from fakes.runtimes import JOB, OURS, URL
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Status
from skyrl_doctor.facts.runtime import ReadyFlag, RuntimeUrls, SaidUrl
from skyrl_doctor.machine.http_query import Fetched
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of, recorded

LOG = "[INFO] waiting for the runtime\n[INFO] ready\nhttp://cpu-node-03:8000\n"
FLAG = f"{JOB}/runtime_ready.flag"
STALE = Finding(
    message=f"{FLAG} says that the runtime at {URL} is ready, and nobody listens there: it is of an earlier run, or its "
    "runtime has ended since; wanted the flag of a runtime that runs",
    evidence=(f"GET {URL}/health: Connection refused",),
    location=Location(FLAG),
    remedy=Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="if a runtime of this launch wrote it, its log says why it ended; else give each launch a directory of its own, "
        "or remove the flag before the runtime starts",
        commands=(f"rm {FLAG}",),
    ),
)
REMEDY = Remedy(kind=RemedyKind.FIX_ENV, summary="take it from the file that the runtime writes, and log to stderr")
PLAN = plan_of(sandbox__runtime_url="node07:8000")


def said(text: str, by: str = "$SANDBOX_REMOTE_RUNTIME_API_URL", plan: Plan = PLAN) -> list[Finding]:
    return list(runtime_url_contaminated(plan, RuntimeUrls((SaidUrl(by, text),)), None))


def flagged(**health: Any) -> list[Finding]:
    flag = ReadyFlag(path=FLAG, url=URL, health=Fetched(url=f"{URL}/health", **health))
    return list(runtime_url_contaminated(PLAN, RuntimeUrls((SaidUrl("x", URL),)), flag))


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


def test_finds_the_flag_of_a_runtime_that_is_gone() -> None:
    assert flagged(why="Connection refused") == [STALE]


@pytest.mark.parametrize(
    "health", [{"status": 200}, {"status": 503}, {"why": "no answer within 3 s"}, {"why": "No route to host"}]
)
def test_a_runtime_that_may_be_there_has_no_stale_flag(health: dict[str, Any]) -> None:
    assert flagged(**health) == []


def test_a_stale_flag_reproduces_on_a_recording() -> None:
    gone = recorded("clean_runtime_up").but(
        {f"get {URL}/health": {"url": f"{URL}/health", "why": "Connection refused"}}
    )
    found = judge("SLM004", gone, plan=OURS, role=Role.GPU)
    assert (found.status, found.findings) == (Status.FAIL, (STALE,))
    assert judge("SLM004", gone, plan=OURS, role=Role.RUNTIME).status is Status.PASS  # which replaces it


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
