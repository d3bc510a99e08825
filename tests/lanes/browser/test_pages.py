"""The report and the viewer in a real browser, by clicks and keys."""

from pathlib import Path

import pytest

from job_samples import transcript
from lanes.browser.cdp import Page
from skyrl_train.agent.journal import append

pytestmark = pytest.mark.browser
LISTED = "document.querySelectorAll('main tbody tr').length"
WIDE = "document.documentElement.scrollWidth <= window.innerWidth"
VIEWS = ("#/rollouts", "#/groups", "#/plots", "#/rollout/s3p2-0", "#/group/3/repo__task-4")
READY = "document.body.dataset.ready && document.querySelector('main h2')"


def open_view(page: Page, viewer: str, view: str = "#/rollouts", **how: object) -> None:
    page.open(viewer + view, **how)  # type: ignore[arg-type]  # width, height and dark
    page.wait(READY)


def test_the_report_loads_nothing_and_runs_nothing(page: Page, report: Path) -> None:
    page.open(report.as_uri())
    assert "<script>window.owned = 1</script>" in page.text()
    assert page.evaluate("typeof window.owned") == "undefined"
    assert [url for url in page.requests if not url.startswith(("file:", "about:"))] == []
    assert page.errors == []


def test_a_finding_of_the_report_leads_to_its_line(page: Page, report: Path) -> None:
    page.open(report.as_uri())
    page.click("article.finding a")
    assert page.evaluate("location.hash") == "#config-0-11"
    assert page.evaluate("document.querySelector(':target code').innerText") == "max_tokens = 2048"


def test_the_report_is_walked_with_the_tabulator(page: Page, report: Path) -> None:
    page.open(report.as_uri())
    page.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.press("Enter")
    assert page.evaluate("location.hash") == "#content"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 900, 1400])
def test_the_report_fits(page: Page, report: Path, axe: Path, width: int, dark: bool) -> None:
    page.open(report.as_uri(), width=width, dark=dark)
    assert page.evaluate(WIDE)
    assert page.accessibility(axe) == []


def test_the_report_prints(page: Page, report: Path) -> None:
    page.open(report.as_uri())
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every((one) => one.clientHeight >= one.scrollHeight)"
    )
    page.call("Emulation.setEmulatedMedia", media="")


def test_a_filter_is_typed_and_cleared(page: Page, viewer: str) -> None:
    open_view(page, viewer)
    page.wait(f"{LISTED} === 100")
    page.press("/")
    assert page.evaluate("document.activeElement.name") == "text"
    page.click("input[name=step]")
    page.type("3")
    page.press("Enter")
    page.wait(f"{LISTED} === 12")
    page.click("input[name=failed]")
    page.wait(f"{LISTED} > 0 && {LISTED} < 12")
    assert page.evaluate("location.hash") in ("#/rollouts?failed=1&step=3", "#/rollouts?step=3&failed=1")
    page.click("button[type=reset]")
    page.wait(f"{LISTED} === 100")


def test_a_text_is_searched(page: Page, viewer: str) -> None:
    open_view(page, viewer)
    page.wait(f"{LISTED} === 100")
    page.press("/")
    page.type("pytest -q # 4")
    page.press("Enter")
    page.wait(f"{LISTED} > 0 && document.querySelector('main [role=status]').innerText.includes('searched')")


def test_a_rollout_opens_by_keys_and_its_turns_are_walked(page: Page, viewer: str) -> None:
    open_view(page, viewer, "#/rollouts?step=3")
    page.wait(f"{LISTED} === 12")
    page.press("j")
    page.press("j")
    page.press("Enter")
    page.wait("document.querySelectorAll('.turnbox').length > 1")
    page.press("j")
    page.press("j")
    page.press("Enter")
    page.wait("location.hash.endsWith('/2') && document.activeElement.id === 'turn-2'")
    first = page.evaluate("document.querySelector('main h2').innerText")
    page.press("[")
    page.wait(f"document.querySelector('main h2').innerText !== {first!r}")
    page.press("u")
    page.wait("location.hash === '#/rollouts'")


def test_rollouts_are_filtered_by_their_tests(page: Page, viewer: str) -> None:
    open_view(page, viewer, "#/rollouts?step=3")
    page.wait(f"{LISTED} === 12")
    page.click("input[name=tests]")
    page.type("test_fix fails")
    page.press("Enter")
    page.wait(f"{LISTED} > 0 && {LISTED} < 12")
    page.click("main tbody a")
    page.wait("document.querySelector('section.tests')")
    assert "test_fix fails" in page.evaluate("document.querySelector('section.tests').innerText")


def test_a_group_shows_its_rollouts_side_by_side(page: Page, viewer: str) -> None:
    open_view(page, viewer, "#/groups")
    page.click("main a.row")
    page.wait("document.querySelectorAll('.column').length >= 1 && document.querySelector('.column details[open] pre')")


def test_a_hostile_transcript_is_text(page: Page, viewer: str) -> None:
    open_view(page, viewer, "#/rollout/s3p2-0")
    page.wait("document.querySelector('.turnbox pre')")
    assert "<script>window.owned = 1</script></script><img src=x" in page.text()
    assert page.evaluate("typeof window.owned") == "undefined"
    assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
    assert page.errors == []
    assert [url for url in page.requests if not url.startswith((viewer, "about:"))] == []


def test_ten_megabytes_of_one_line_open_at_once(page: Page, viewer: str) -> None:
    open_view(page, viewer, "#/rollout/huge")
    page.wait("document.querySelector('.turnbox pre')")
    assert page.evaluate("document.body.innerText.length") < 100_000
    page.click(".turnbox button")
    page.wait("document.body.innerText.length > 150000")
    assert page.evaluate(WIDE)


def test_a_link_to_a_turn_opens_there(page: Page, viewer: str) -> None:
    open_view(page, viewer, "#/rollout/s3p2-0/2")
    page.wait("document.activeElement.id === 'turn-2'")


def test_new_rollouts_of_a_running_job_appear(page: Page, viewer: str, job: Path) -> None:
    open_view(page, viewer, "#/rollouts?step=77")
    page.wait("document.querySelector('main [role=status]').innerText.startsWith('0 ')")
    append(job / "rollouts" / "step_77.jsonl", transcript("just-now"))
    page.wait("document.querySelector('main').innerText.includes('just-now')")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("view", VIEWS)
def test_each_view_fits(page: Page, viewer: str, axe: Path, view: str, width: int, dark: bool) -> None:
    open_view(page, viewer, view, width=width, dark=dark)
    page.wait("document.querySelector('main table, main pre, main figure')")
    assert page.evaluate(WIDE)
    assert page.accessibility(axe) == []
