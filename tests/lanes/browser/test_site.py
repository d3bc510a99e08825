"""The built documentation in a real browser: the catalogue is filtered, a failure's page is reached and leads on."""

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.browser.cdp import Page
from skyrl_doctor.cli.listing import rows
from skyrl_doctor.cli.search import find
from skyrl_doctor.core.registry import discover

pytestmark = pytest.mark.browser
SITE = Path(os.environ.get("SITE", Path(__file__).parents[3] / "site"))
ROWS = "[...document.querySelectorAll('article tbody tr')].filter((row) => row.offsetParent).length"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the site that `make docs` built."""
    if not (SITE / "failures/index.html").exists():
        pytest.skip(f"{SITE} holds no site; run make docs")
    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_a_failure_is_found_in_the_catalogue(page: Page, site: str) -> None:
    page.open(f"{site}failures/")
    page.wait("document.querySelector('#filter input')")
    every = page.evaluate(ROWS)
    assert every >= 140
    page.click("#filter input")
    page.type("kv cache")
    page.wait(f"{ROWS} > 0 && {ROWS} < 5")
    assert page.evaluate("[...document.querySelectorAll('article h2')].filter((one) => one.offsetParent).length") <= 2
    page.click("article tbody tr:not([hidden]) a[href*=MEM005]")
    page.wait("document.querySelector('h1') && document.querySelector('h1').innerText.includes('MEM005')")
    text = page.text()
    assert [part for part in ("How to fix", "Log lines", "Related", "Settings:", "Next:") if part not in text] == []
    page.click("article a[href*=MEM006]")
    page.wait("document.querySelector('h1').innerText.includes('MEM006')")


def test_the_address_keeps_the_filter(page: Page, site: str) -> None:
    page.open(f"{site}failures/?filter=podman")
    page.wait(f"document.querySelector('#filter input').value === 'podman' && {ROWS} < 60")
    assert page.evaluate("document.querySelector('#filter [role=status]').innerText").endswith(" failures")


@pytest.mark.parametrize("words", ["oom", "timeout", "hang", "segfault"])
def test_the_filter_finds_what_list_finds(page: Page, site: str, words: str) -> None:
    expected = len(find(rows(discover().checks), (words,)).rows)
    page.open(f"{site}failures/?filter={words}")
    page.wait(f"document.querySelector('#filter [role=status]')?.innerText === '{expected} failures'")


def test_the_site_is_dark_for_who_wants_it_and_leads_on(page: Page, site: str) -> None:
    page.open(f"{site}tutorial/", dark=False)
    light = page.evaluate(BACKGROUND)
    page.open(f"{site}tutorial/", dark=True)
    assert page.evaluate(BACKGROUND) != light
    page.click("a.md-footer__link--next")
    page.wait("document.querySelector('h1').innerText.includes('cluster')")


def test_the_site_loads_nothing_from_elsewhere(page: Page, site: str) -> None:
    page.open(f"{site}architecture/")
    page.wait("document.querySelectorAll('article img').length === 3")
    assert [url for url in page.requests if not url.startswith((site, "data:", "about:"))] == []
    assert page.evaluate("[...document.querySelectorAll('article img')].every((one) => one.naturalWidth > 0)")
