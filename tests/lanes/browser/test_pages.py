"""The report and the viewer in a real browser, by clicks and keys."""

import subprocess
import sys
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


def test_a_list_that_is_not_followed_stays(page: Page, viewer: str, job: Path) -> None:
    open_view(page, viewer, "#/rollouts?step=78")
    page.wait("document.querySelector('main [role=status]').innerText.startsWith('0 ')")
    before = page.evaluate("document.getElementById('state').innerText")
    page.click("#follow")
    append(job / "rollouts" / "step_78.jsonl", transcript("not-followed"))
    page.wait(f"document.getElementById('state').innerText !== {before!r}")
    assert "not-followed" not in page.evaluate("document.querySelector('main').innerText")
    page.click("#follow")
    append(job / "rollouts" / "step_78.jsonl", transcript("followed"))
    page.wait("document.querySelector('main').innerText.includes('followed')")


def test_the_viewer_is_used_without_a_mouse(page: Page, viewer: str) -> None:
    """Filter by a field, a box and a list, open a rollout and a turn, go back, open a group, change the view."""
    open_view(page, viewer)
    page.wait(f"{LISTED} === 100")
    page.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.tab_to("it.name === 'failed'")
    page.press("Space")
    page.wait("location.hash === '#/rollouts?failed=1'")
    page.tab_to("it.name === 'step'")
    page.type("3")
    page.tab_to("it.name === 'end'")
    page.press("ArrowDown")
    page.wait(f"location.hash.includes('end=') && location.hash.includes('step=3') && {LISTED} > 0 && {LISTED} < 12")
    page.tab_to("it.type === 'reset'")
    page.press("Enter")
    page.wait(f"{LISTED} === 100")
    page.tab_to("it.matches('main tbody a.row')")
    page.press("Enter")
    page.wait("location.hash.startsWith('#/rollout/') && document.querySelectorAll('.turnbox').length > 1")
    page.press("Tab")
    page.tab_to("it.closest('.facts a')")
    page.press("Enter")
    page.wait("location.hash.startsWith('#/group/') && document.querySelector('.column summary')")
    page.tab_to("it.matches('.column summary')")
    is_open = page.evaluate("document.activeElement.parentElement.open")
    page.press("Enter")
    page.wait(f"document.activeElement.parentElement.open !== {str(is_open).lower()}")
    page.press("u")
    page.wait("location.hash === '#/rollouts'")
    page.tab_to("it.id === 'nav-plots'")
    page.press("Enter")
    page.wait("location.hash === '#/plots' && document.querySelectorAll('figure svg').length > 5")


def test_the_report_of_a_hostile_log_is_text(page: Page, axe: Path, tmp_path: Path) -> None:
    """A script, codes that control a terminal, and a line of 10 MB, in the lines around the error."""
    log = tmp_path / "train.log"
    log.write_text(
        f"step:1 - timing_s/step:10.0\nTraceback (most recent call last):\n{'<img src=x onerror=owned()>' * 400_000}\n"
        "<script>window.owned = 1</script>\x1b]0;owned\x07\x1b[31mred\x1b[0m\u202egnp\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has 1.10 GiB free of 19.62 GiB.\n"
    )
    assert log.stat().st_size > 10 << 20
    out = tmp_path / "report.html"
    words = [sys.executable, "-m", "skyrl_doctor", "report", str(log), "-o", str(out)]
    subprocess.run(words, check=True, timeout=120, stdout=subprocess.DEVNULL)
    assert out.stat().st_size < 100_000
    page.open(out.as_uri(), width=400)
    text = page.text()
    assert "<script>window.owned = 1</script>" in text
    assert [code for code in ("\x1b", "\x07", "\u202e") if code in text] == []
    assert page.evaluate("typeof window.owned") == "undefined"
    assert page.evaluate("document.querySelectorAll('script, img').length") == 0
    assert page.evaluate(WIDE)
    assert page.errors == []
    assert page.accessibility(axe) == []


def test_a_row_of_the_list_is_a_card_on_a_phone(page: Page, viewer: str) -> None:
    open_view(page, viewer, "#/rollouts?step=3", width=390)
    page.wait(f"{LISTED} === 12")
    box = "document.querySelector('main .scroll')"
    assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("view", VIEWS)
def test_each_view_fits(page: Page, viewer: str, axe: Path, view: str, width: int, dark: bool) -> None:
    open_view(page, viewer, view, width=width, dark=dark)
    page.wait("document.querySelector('main table, main pre, main figure')")
    assert page.evaluate(WIDE)
    assert page.accessibility(axe) == []
