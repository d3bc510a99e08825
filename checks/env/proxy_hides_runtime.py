"""A proxy stands between the trainer and its sandboxes.

## What it does
Where a proxy is set (`http_proxy`, `HTTP_PROXY`, `ALL_PROXY`, …), decides for the runtime's host, and for the names of
this node, whether httpx and urllib would both go round it, by the rules of each: they read `no_proxy` differently. The
runtime's host is that of the plan's `sandbox.runtime_url`, else of `SANDBOX_REMOTE_RUNTIME_API_URL`.

## Why it breaks training
The workspace client asks the runtime through httpx and a sandbox's health through urllib; both honour the proxy of the
environment. A proxy outside of the cluster does not reach compute nodes: every sandbox seems dead until the time is up. The
key of the runtime goes to the proxy as well. A `*.domain` or a network (`10.0.0.0/8`) in `no_proxy` covers nothing for these
clients, `.domain` covers less for httpx, `*` counts for urllib only if it stands alone, and `[::1]` ends httpx at once.

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
    shown,
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
        seen = f"no_proxy holds {', '.join(map(repr, refused))}, which httpx cannot read: each client of it raises InvalidURL"
        yield Finding(message=f"{seen}; wanted names and addresses alone", remedy=remedy)
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
        kind=RemedyKind.FIX_ENV, summary=f"name these hosts in {' and '.join(NAMES)}", settings=settings, safe=True
    )


def _hidden(
    what: str, proxy: str, found: Mapping[str, str], severity: Severity, place: Location | None, remedy: Remedy
) -> Finding:
    no = found.get("no")
    seen = (
        f"requests to {what} leave through the proxy {shown(proxy)}: no_proxy is {'unset' if no is None else repr(no)}"
    )
    return Finding(
        message=f"{seen}, which httpx and urllib do not both take for it; wanted the name itself in it",
        severity=severity,
        location=place,
        remedy=remedy,
    )
