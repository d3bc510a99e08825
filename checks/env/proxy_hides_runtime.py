"""Requests to the sandbox runtime go through a proxy, because `no_proxy` does not cover it.

## What it does
If a proxy is set (`http_proxy`, `HTTP_PROXY`, `ALL_PROXY`, …), checks for the runtime's host and for the names of
this node whether httpx and urllib both bypass it. They read `no_proxy` differently. The runtime's host is that of the
plan's `sandbox.runtime_url`, else of `SANDBOX_REMOTE_RUNTIME_API_URL`.

## Why it breaks training
The workspace client talks to the runtime through httpx and checks a sandbox's health through urllib; both use the
proxy of the environment. A proxy outside the cluster does not reach compute nodes, so every sandbox seems dead until
the timeout. The runtime's key is sent to the proxy too. In `no_proxy`, these clients ignore `*.domain` and networks
(`10.0.0.0/8`), httpx matches fewer names with `.domain`, urllib accepts `*` only if it is the whole value, and
`[::1]` makes httpx fail at once.

## How to fix
Add the hosts to `no_proxy` and `NO_PROXY`, as plain names: `skyrl-doctor env` prints the whole value.

## Example
    httpx.ProxyError: 503 Service Unavailable
    ValueError: Runtime failed (status: unknown)
"""

from collections.abc import Iterator, Mapping

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.facts.worker_environ import worker_environ
from skyrl_doctor.plan.answers import RUNTIME_KEY, runtime_target
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.proxy import (
    LOOPBACK,
    NAMES,
    Target,
    proxies,
    proxy_in_the_way,
    proxy_settings,
    refused_by_httpx,
    without_password,
)


@check("ENV013", roles=[Role.GPU, Role.LOGIN], fix="skyrl_train/node/proxy.py")
def proxy_hides_runtime(environ: Environ, plan: Plan, host: Host, roles: Roles) -> Iterator[Finding]:
    variables = worker_environ(environ, plan)
    found = proxies(variables)
    refused = refused_by_httpx(found.get("no", ""))
    if not refused and not any(found.get(scheme) for scheme in ("http", "https", "all")):
        return
    own_names = _own_names(variables, host) if Role.GPU in roles else LOOPBACK
    remedy = _remedy(variables, plan, own_names)
    if refused:
        seen = f"no_proxy contains {', '.join(map(repr, refused))}, which httpx cannot read: every httpx client raises InvalidURL"
        yield Finding(message=f"{seen}; expected only names and addresses", remedy=remedy)
    runtime = runtime_target(plan, variables)
    if runtime is not None and (proxy := proxy_in_the_way(runtime, variables)) is not None:
        place = plan.place(RUNTIME_KEY) if plan.text(RUNTIME_KEY) else None
        yield _hidden(f"the runtime's host {runtime.host}", proxy, found, Severity.ERROR, place, remedy)
    hidden = {name: proxy for name in own_names if (proxy := _in_the_way(name, variables)) is not None}
    if hidden:
        names = f"this node's own names ({', '.join(hidden)})"
        yield _hidden(names, next(iter(hidden.values())), found, Severity.WARNING, None, remedy)


def _own_names(variables: Mapping[str, str], host: Host) -> tuple[str, ...]:
    """What servers on this node are called: vLLM's, and a runtime's beside the trainer."""
    return tuple(dict.fromkeys((*LOOPBACK, host.name, *filter(None, (variables.get("SLURMD_NODENAME"),)))))


def _in_the_way(name: str, variables: Mapping[str, str]) -> str | None:
    return proxy_in_the_way(Target("http", name), variables)


def _remedy(variables: Mapping[str, str], plan: Plan, own_names: tuple[str, ...]) -> Remedy:
    runtime = runtime_target(plan, variables)
    hosts = (*((runtime.host,) if runtime else ()), *own_names)
    settings = {
        setting.name: setting.value
        for setting in proxy_settings(variables, hosts).settings
        if setting.value is not None
    }
    return Remedy(
        kind=RemedyKind.FIX_ENV, summary=f"add these hosts to {' and '.join(NAMES)}", settings=settings, safe=True
    )


def _hidden(
    what: str, proxy: str, found: Mapping[str, str], severity: Severity, place: Location | None, remedy: Remedy
) -> Finding:
    no = found.get("no")
    seen = f"requests to {what} go through the proxy {without_password(proxy)}, because no_proxy is {'unset' if no is None else repr(no)}"
    return Finding(
        message=f"{seen}{'' if no is None else ', which httpx and urllib do not both apply to it'}; expected the host name itself in no_proxy",
        severity=severity,
        location=place,
        remedy=remedy,
    )
