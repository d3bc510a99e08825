"""ENV013."""

import pytest

from checks.env.proxy_hides_runtime import proxy_hides_runtime
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

PROXY = "http://proxy.example.org:3128"
GPU, LOGIN = Roles(frozenset({Role.GPU}), asked=True), Roles(frozenset({Role.LOGIN}), asked=True)
HOST = Host(name="gpu1", user="u", uid=1, gid=1, pid=1, cpus=1, system="Linux", python="p", cwd="/", now=0.0)
PLAN = plan_of(sandbox__runtime_url="http://cpu1:8000")
OWN = "localhost,127.0.0.1,gpu1"


def remedy(no_proxy: str) -> Remedy:
    return Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="add these hosts to no_proxy and NO_PROXY",
        settings={"no_proxy": no_proxy, "NO_PROXY": no_proxy},
        safe=True,
    )


def judged(plan: Plan | None = None, roles: Roles = GPU, **environ: str) -> list[Finding]:
    return list(proxy_hides_runtime(Environ(environ), plan or Plan(), HOST, roles))


def found(plan: Plan | None = None, roles: Roles = GPU, **environ: str) -> list[tuple[Severity, str]]:
    return [
        (finding.severity, finding.message.partition(" go through")[0]) for finding in judged(plan, roles, **environ)
    ]


RUNTIME = (Severity.ERROR, "requests to the runtime's host cpu1")
NODE = (Severity.WARNING, "requests to this node's own names (localhost, 127.0.0.1, gpu1)")


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"http_proxy": "", "HTTP_PROXY": PROXY},
        {"https_proxy": PROXY},
        {"http_proxy": PROXY, "no_proxy": "*"},
        {"http_proxy": PROXY, "no_proxy": f"{OWN},cpu1"},
        {"http_proxy": PROXY, "NO_PROXY": f"{OWN},cpu1:8000"},
        {"ALL_PROXY": PROXY, "no_proxy": "x,*"},
    ],
)
def test_is_silent_where_both_clients_go_direct(environ: dict[str, str]) -> None:
    assert judged(PLAN, **environ) == []


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"])
def test_finds_a_proxy_by_any_of_its_names(name: str) -> None:
    assert found(PLAN, **{name: PROXY}) == [RUNTIME, NODE]


def test_says_what_was_seen_and_what_is_wanted() -> None:
    message = f"requests to the runtime's host cpu1 go through the proxy {PROXY}, because no_proxy is 'gpu1,localhost,127.0.0.1,*.x', which httpx and urllib do not both apply to it; expected the host name itself in no_proxy"
    assert judged(PLAN, http_proxy=PROXY, no_proxy="gpu1,localhost,127.0.0.1,*.x") == [
        Finding(
            message=message,
            location=Location("plan.toml", None, "sandbox.runtime_url"),
            remedy=remedy("gpu1,localhost,127.0.0.1,*.x,cpu1"),
        )
    ]


def test_without_no_proxy_the_clients_do_not_disagree() -> None:
    tail = f"go through the proxy {PROXY}, because no_proxy is unset; expected the host name itself in no_proxy"
    assert judged(PLAN, http_proxy=PROXY)[0].message == f"requests to the runtime's host cpu1 {tail}"


def test_without_a_runtime_the_node_itself_must_be_reached() -> None:
    message = f"requests to this node's own names (gpu1) go through the proxy {PROXY}, because no_proxy is 'localhost,127.0.0.1', which httpx and urllib do not both apply to it; expected the host name itself in no_proxy"
    assert judged(http_proxy=PROXY, no_proxy="localhost,127.0.0.1") == [
        Finding(message=message, severity=Severity.WARNING, remedy=remedy("localhost,127.0.0.1,gpu1"))
    ]
    assert found(roles=LOGIN, http_proxy=PROXY, no_proxy="localhost,127.0.0.1") == []


def test_takes_the_runtime_of_the_environment_and_the_plan_s_own_variables() -> None:
    variables = {"http_proxy": PROXY, "no_proxy": OWN, "SANDBOX_REMOTE_RUNTIME_API_URL": "http://cpu1:8000\n"}
    assert found(**variables) == [RUNTIME]
    assert [finding.location for finding in judged(**variables)] == [None]
    assert found(plan_of(env__no_proxy=f"{OWN},cpu1"), **variables) == []


def test_finds_an_entry_that_ends_httpx_with_or_without_a_proxy() -> None:
    message = "no_proxy contains '[::1]', which httpx cannot read: every httpx client raises InvalidURL; expected only names and addresses"
    assert judged(no_proxy="localhost,[::1]") == [Finding(message=message, remedy=remedy("localhost"))]


@pytest.mark.parametrize("proxy", ["http://name:s3cret@proxy:3128", "name:s3cret@proxy:3128"])
def test_shows_no_password(proxy: str) -> None:
    assert "s3cret" not in str(judged(PLAN, http_proxy=proxy))


NO = "localhost,127.0.0.1,10.0.0.0/8,*.cluster.example.org"
CURED = remedy(f"{NO},cpu-node-3.cluster.example.org,gpu-node-17")
SEEN = "go through the proxy http://***@proxy.example.org:3128"
TAIL = f"no_proxy is {NO!r}, which httpx and urllib do not both apply to it; expected the host name itself in no_proxy"


def test_reproduces_on_a_recording() -> None:
    plan = plan_of(sandbox__runtime_url="http://cpu-node-3.cluster.example.org:8000")
    assert judge("ENV013", "proxy_hides_runtime", plan=plan) == Outcome(
        id="ENV013",
        slug="proxy-hides-runtime",
        status=Status.FAIL,
        findings=(
            Finding(
                message=f"requests to the runtime's host cpu-node-3.cluster.example.org {SEEN}, because {TAIL}",
                location=Location("plan.toml", None, "sandbox.runtime_url"),
                remedy=CURED,
            ),
            Finding(
                message=f"requests to this node's own names (gpu-node-17) {SEEN}, because {TAIL}",
                severity=Severity.WARNING,
                remedy=CURED,
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    plan = plan_of(sandbox__runtime_url="http://cpu-node-3:8000")
    assert judge("ENV013", "clean_gpu_node", plan=plan).status is Status.PASS
