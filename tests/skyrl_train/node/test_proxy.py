"""Who goes round a proxy."""

import urllib.request

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.proxy import (
    Target,
    bypassed_by_httpx,
    bypassed_by_urllib,
    proxies,
    proxy_in_the_way,
    proxy_settings,
    refused_by_httpx,
    without_password,
)
from skyrl_train.node.settings import Preparation, Setting

PROXY = "http://proxy.example.org:3128"
NODE = Target("http", "node", 8000)
HOSTS = ("node", "n1.cluster", "cluster", "localhost", "127.0.0.1", "10.0.0.1", "::1")
ENTRIES = st.lists(
    st.sampled_from(
        [
            "node",
            ".cluster",
            "*.cluster",
            "cluster",
            "*",
            "",
            "node:8000",
            "10.0.0.0/8",
            "[::1]",
            " node ",
            "0.1",
            "..n",
        ]
    )
    | st.text(alphabet="node.:*/1", max_size=6),
    max_size=4,
).map(",".join)


@pytest.mark.parametrize(
    ("host", "port", "no", "urllib", "httpx"),
    [
        ("node", 8000, "node", True, True),
        ("NODE", 8000, "Node", True, True),
        ("node", 8000, "localhost, node", True, True),
        ("node", 8000, "localhost node", False, False),
        ("node", 8000, "", False, False),
        ("node", 8000, "*", True, True),
        ("node", 8000, "localhost,*", False, True),
        ("node", 8000, "node:8000", True, True),
        ("node", 8000, "node:9000", False, False),
        ("n1.cluster", 8000, "cluster", True, True),
        ("n1.cluster", 8000, ".cluster", True, True),
        ("cluster", None, ".cluster", True, False),
        ("n1.cluster", None, "*.cluster", False, False),
        ("mycluster", None, "cluster", False, False),
        ("10.1.2.3", 8000, "10.1.2.3", True, True),
        ("10.1.2.3", 8000, "10.0.0.0/8", False, False),
        ("10.1.2.3", 8000, "10.1.2.3/8", False, True),
        ("a.localhost", None, "localhost", True, False),
        ("::1", 8000, "::1", False, True),
        ("::1", 8000, "[::1]", True, False),
        ("node", 8000, "http://node", False, True),
        ("node", 8000, "https://node", False, False),
        ("node", 80, "node:80", True, False),
    ],
)
def test_follows_each_client_s_own_rules(host: str, port: int | None, no: str, urllib: bool, httpx: bool) -> None:
    target = Target("http", host, port)
    assert (bypassed_by_urllib(target, no), bypassed_by_httpx(target, no)) == (urllib, httpx)


@given(st.sampled_from(HOSTS), st.sampled_from([None, 80, 8000]), ENTRIES)
def test_agrees_with_urllib(host: str, port: int | None, no: str) -> None:
    target = Target("http", host, port)
    theirs = urllib.request.proxy_bypass_environment(target.netloc, {"no": no} if no else {})  # type: ignore[attr-defined]  # not in the stubs
    assert bypassed_by_urllib(target, no) is bool(theirs)


@given(
    st.dictionaries(
        st.sampled_from(
            ["http_proxy", "HTTP_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "Http_Proxy", "REQUEST_METHOD"]
        ),
        st.sampled_from(["", "a", "b"]),
    )
)
def test_reads_the_variables_as_urllib_does(environ: dict[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "http_proxy",
            "HTTP_PROXY",
            "https_proxy",
            "HTTPS_PROXY",
            "all_proxy",
            "ALL_PROXY",
            "no_proxy",
            "NO_PROXY",
        ):
            patch.delenv(name, raising=False)
        for name, value in environ.items():
            patch.setenv(name, value)
        theirs = urllib.request.getproxies_environment()  # type: ignore[attr-defined]  # not in the stubs
    ours = proxies(environ)
    assert {name: value for name, value in theirs.items() if name in ("http", "https", "all", "no")} == ours


@pytest.mark.parametrize(
    ("environ", "proxy"),
    [
        ({}, None),
        ({"http_proxy": ""}, None),
        ({"https_proxy": PROXY}, None),
        ({"http_proxy": PROXY}, PROXY),
        ({"HTTP_PROXY": PROXY}, PROXY),
        ({"HTTP_PROXY": PROXY, "http_proxy": ""}, None),
        ({"ALL_PROXY": PROXY}, PROXY),
        ({"http_proxy": PROXY, "no_proxy": "node"}, None),
        ({"http_proxy": PROXY, "NO_PROXY": "node"}, None),
        ({"http_proxy": PROXY, "NO_PROXY": "node", "no_proxy": "other"}, PROXY),
        ({"http_proxy": PROXY, "NO_PROXY": "node", "no_proxy": ""}, PROXY),
        ({"http_proxy": PROXY, "no_proxy": "x,*"}, PROXY),
        ({"all_proxy": PROXY, "no_proxy": "x,*"}, None),
    ],
)
def test_a_host_is_reached_only_where_both_go_direct(environ: dict[str, str], proxy: str | None) -> None:
    assert proxy_in_the_way(NODE, environ) == proxy


@pytest.mark.parametrize(
    ("no", "refused"),
    [
        ("localhost,[::1]", ("[::1]",)),
        ("node:x", ("node:x",)),
        ("::1/128", ("::1/128",)),
        ("::1,node:8000,10.0.0.0/8,node:", ()),
        ("[::1],*", ()),
        ("", ()),
    ],
)
def test_knows_what_httpx_cannot_read(no: str, refused: tuple[str, ...]) -> None:
    assert refused_by_httpx(no) == refused


@pytest.mark.parametrize(
    ("proxy", "text"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://name:secret@proxy:3128", "http://***@proxy:3128"),
        ("name:secret@proxy:3128", "***@proxy:3128"),
        ("http://name:se@cr/et@proxy:3128", "http://***@proxy:3128"),
        ("name:http://x@proxy", "***@proxy"),
        ("socks5h://u:p@proxy", "socks5h://***@proxy"),
    ],
)
def test_shows_no_password(proxy: str, text: str) -> None:
    assert without_password(proxy) == text


def settings(value: str) -> Preparation:
    why = "requests to the sandboxes and to this node must not use the proxy"
    return Preparation(
        settings=tuple(Setting(name=name, value=value, cures="ENV013", why=why) for name in ("no_proxy", "NO_PROXY"))
    )


def test_adds_what_is_missing_and_keeps_the_rest() -> None:
    environ = {"http_proxy": PROXY, "no_proxy": "mirror.example.org, localhost"}
    assert proxy_settings(environ, ["node", "node"]) == settings("mirror.example.org,localhost,node,127.0.0.1")


def test_takes_away_what_ends_httpx() -> None:
    assert proxy_settings({"no_proxy": "localhost,[::1]"}, ["node"]) == settings("localhost")


def test_leaves_a_node_without_proxy_alone() -> None:
    assert proxy_settings({}, ["node"]) == Preparation()
    assert proxy_settings({"http_proxy": PROXY, "no_proxy": "*"}, ["node"]) == Preparation()


@given(ENTRIES)
def test_after_the_cure_every_host_is_reached(no: str) -> None:
    environ = {"http_proxy": PROXY, "no_proxy": no}
    hosts = [host for host in HOSTS if host != "::1"]
    cured = {setting.name: setting.value or "" for setting in proxy_settings(environ, hosts).settings}
    after = {**environ, **cured}
    assert [proxy_in_the_way(Target("http", host, 8000), after) for host in hosts] == [None] * len(hosts)
    assert refused_by_httpx(after["no_proxy"]) == ()


@pytest.mark.parametrize("url", ["", "node", "http://", "http://[::1", "http://node:port", "http:///x"])
def test_what_is_no_url_has_no_target(url: str) -> None:
    assert Target.of(url) is None
