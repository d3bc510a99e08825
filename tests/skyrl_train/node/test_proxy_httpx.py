"""The rules of httpx as its own code has them; the OpenHands packages bring it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.proxy import Target, bypassed_by_httpx, refused_by_httpx

HOSTS = st.sampled_from(["node", "n1.cluster", "cluster", "localhost", "127.0.0.1", "::1"])
ENTRIES = st.lists(
    st.sampled_from(
        ["node", ".cluster", "*.cluster", "*", "", "node:8000", "10.0.0.0/8", "[::1]", "::1/8", "http://node:80"]
    ),
    max_size=4,
).map(",".join)


@pytest.mark.openhands
@given(HOSTS, st.sampled_from([None, 80, 8000]), ENTRIES)
def test_agrees_with_httpx(host: str, port: int | None, no: str) -> None:
    httpx = pytest.importorskip("httpx")
    utils = pytest.importorskip("httpx._utils")
    target = Target("http", host, port)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ALL_PROXY", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "NO_PROXY"):
            patch.delenv(name, raising=False)
        patch.setenv("http_proxy", "http://proxy:3128")
        patch.setenv("no_proxy", no)
        try:
            mounts = sorted((utils.URLPattern(key), proxy) for key, proxy in utils.get_environment_proxies().items())
        except httpx.InvalidURL:
            assert refused_by_httpx(no)
            return
    url = httpx.URL(f"http://{target.netloc}")
    taken = next((proxy for pattern, proxy in mounts if pattern.matches(url)), None)
    assert not refused_by_httpx(no)
    assert bypassed_by_httpx(target, no) is (taken is None)
