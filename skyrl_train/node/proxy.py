"""Which requests use a proxy, by the rules of urllib and of httpx, which differ.

httpx sends requests to the runtime, urllib checks the health of a sandbox. A host must be reachable directly by both.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from skyrl_train.contracts.record import record
from skyrl_train.node.settings import Preparation, Setting

NAMES = ("no_proxy", "NO_PROXY")
LOOPBACK = ("localhost", "127.0.0.1")
_SUFFIX = "_proxy"
_DEFAULT_PORTS = {("http", 80), ("https", 443)}


@record
class Target:
    """The target of a request."""

    scheme: str
    host: str
    port: int | None = None

    @classmethod
    def of(cls, url: str) -> "Target | None":
        """The target of a URL, or None if the URL is invalid."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return None
        return cls(parts.scheme.lower(), parts.hostname, port) if parts.hostname else None

    @property
    def netloc(self) -> str:
        """Host and port as written in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def asked_port(self) -> int | None:
        """The port, or None if it is the default of the scheme, as httpx treats it."""
        return None if (self.scheme, self.port) in _DEFAULT_PORTS else self.port


def proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """The proxies by scheme (`http`, `https`, `all`, `no`), as urllib and httpx read them.

    A lower-case name takes precedence; if it is empty, it removes the others. In CGI, HTTP_PROXY comes from the client.
    """
    found = {name.lower().removesuffix(_SUFFIX): value for name, value in environ.items() if _is_proxy(name) and value}
    if "REQUEST_METHOD" in environ:
        found.pop("http", None)
    for name, value in environ.items():
        if not name.endswith(_SUFFIX):
            continue
        if value:
            found[name.lower().removesuffix(_SUFFIX)] = value
        else:
            found.pop(name.lower().removesuffix(_SUFFIX), None)
    return found


def proxy_in_the_way(target: Target, environ: Mapping[str, str]) -> str | None:
    """The proxy that one of the two clients would use for this target; None if both connect directly."""
    found = proxies(environ)
    no = found.get("no", "")
    own = found.get(target.scheme)
    if own and not bypassed_by_urllib(target, no):
        return own
    taken = own or found.get("all")
    return taken if taken and not bypassed_by_httpx(target, no) else None


def bypassed_by_urllib(target: Target, no: str) -> bool:
    """Whether urllib connects directly: the list is a star, or an entry is a suffix of the host (leading dot ignored)."""
    if no == "*":
        return True
    with_port = target.netloc.lower()
    hosts = {with_port, re.sub(r":[0-9]*$", "", with_port)}
    names = (entry.strip().lstrip(".").lower() for entry in no.split(","))
    return any(host == name or host.endswith("." + name) for name in names if name for host in hosts)


def bypassed_by_httpx(target: Target, no: str) -> bool:
    """Whether httpx connects directly: an entry is a star, the address, a network's first address, or a parent domain.

    A leading dot excludes the domain itself.
    """
    entries = [entry.strip() for entry in no.split(",")]
    return "*" in entries or any(_httpx_matches(entry, target) for entry in entries if entry)


def refused_by_httpx(no: str) -> tuple[str, ...]:
    """Entries, such as `[::1]`, on which every httpx client raises InvalidURL."""
    entries = [entry.strip() for entry in no.split(",")]
    return () if "*" in entries else tuple(entry for entry in entries if entry and _is_refused(entry))


def without_password(proxy: str) -> str:
    """A proxy's URL without user name and password."""
    secret, at, address = proxy.rpartition("@")
    if not at:
        return proxy
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", secret)
    return f"{scheme[0] if scheme else ''}***@{address}"


def proxy_settings(environ: Mapping[str, str], hosts: Iterable[str]) -> Preparation:
    """Settings that add these hosts and the node itself to no_proxy and NO_PROXY if a proxy would be used for them."""
    found = proxies(environ)
    no = found.get("no", "")
    missing = [host for host in dict.fromkeys((*hosts, *LOOPBACK)) if _is_hidden(host, environ)]
    dropped = refused_by_httpx(no)
    if not missing and not dropped:
        return Preparation()
    kept = [entry.strip() for entry in no.split(",") if entry.strip() and entry.strip() not in dropped]
    value = ",".join((*kept, *missing))
    why = "requests to the sandboxes and to this node must not use the proxy"
    return Preparation(
        settings=tuple(Setting(name=name, value=value, cures="ENV013", why=why) for name in NAMES)  # FIX(ENV013)
    )


def _is_hidden(host: str, environ: Mapping[str, str]) -> bool:
    return proxy_in_the_way(Target("http", host), environ) is not None


def _is_proxy(name: str) -> bool:
    return name.lower().endswith(_SUFFIX)


def _httpx_matches(entry: str, target: Target) -> bool:
    host = target.host.lower()
    asked = target.asked_port
    if "://" in entry:
        parts = Target.of(entry)
        return (
            parts is not None
            and parts.scheme in ("all", target.scheme)
            and parts.host == host
            and parts.asked_port in (None, asked)
        )
    network, _, _ = entry.partition("/")
    if _is_address(network):
        return network.lower() == host
    if entry.lower() == "localhost":
        return host == "localhost"
    name, _, port = network.lower().partition(":")
    if port and port != str(asked):
        return False
    if name.startswith("."):
        return host.endswith(name) and len(host) > len(name)
    return host == name or host.endswith("." + name)


def _is_refused(entry: str) -> bool:
    if "://" in entry:
        return False
    address, slash, _ = entry.partition("/")
    if _is_address(address):
        return ":" in address and bool(slash)
    authority = re.split(r"[/?#]", entry, maxsplit=1)[0].rpartition("@")[2]
    _, colon, port = authority.partition(":")
    return bool(colon and port) and re.fullmatch(r"\s*[+-]?[0-9]+\s*", port) is None


def _is_address(text: str) -> bool:
    import ipaddress  # only an environment with NO_PROXY needs it

    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
