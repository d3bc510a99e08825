"""The reward agrees with the published algorithm, oddities included."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.r2e import outputs, published
from skyrl_train.contracts.rewards.r2e import comparable, mismatch, statuses

OUTPUTS = outputs.generated(304)


def perturbed(expected: dict[str, str], rng: random.Random) -> dict[str, str]:
    """The expectation as it is, or with one test more, less or otherwise."""
    changed = dict(expected)
    match rng.randrange(5):
        case 0:
            changed["test_other"] = "PASSED"
        case 1 if changed:
            changed.pop(rng.choice(sorted(changed)))
        case 2 if changed:
            changed[rng.choice(sorted(changed))] = rng.choice(("PASSED", "FAILED", "ERROR"))
    return changed


@pytest.mark.parametrize("kind", outputs.KINDS)
def test_agrees_with_the_published_algorithm(kind: str) -> None:
    rng = random.Random(3)
    rewards = set()
    for output in (output for output in OUTPUTS if output.kind == kind):
        assert statuses(output.text) == published.parsed(output.text)
        for expected in (perturbed(published.parsed(output.text), rng) for _ in range(5)):
            ours = mismatch(comparable(statuses(output.text)), comparable(expected)) is None
            assert float(ours) == published.reward(output.text, expected)
            rewards.add(ours)
    assert rewards == {True, False}


@given(st.text(st.sampled_from("PASED FILRO::- \n\r\x1b[1;m.x") | st.characters()), st.text())
def test_agrees_on_any_text(section: str, before: str) -> None:
    text = f"{before}short test summary info{section}"
    assert statuses(text) == published.parsed(text)


SUMMARY = "== short test summary info ==\n"


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("", {}),
        ("5 passed", {}),
        (SUMMARY, {}),
        (SUMMARY + "PASSED a.py::C::test", {"C.test": "PASSED"}),
        (SUMMARY + "PASSED a.py::test[x - y]", {"test[x - y]": "PASSED"}),
        (SUMMARY + "FAILED a.py::test[x - y] - assert 1", {"test[x": "FAILED"}),
        (SUMMARY + "FAILED a.py::test - a::b", {"test": "FAILED"}),
        (SUMMARY + "FAILED a.py::test[a::b] - no", {"test[a.b]": "FAILED"}),
        (SUMMARY + "FAILED a.py::test[PASSED] - no", {"test[PASSED] - no": "PASSED"}),
        (SUMMARY + "XFAIL a.py::test - known\nXPASS a.py::other", {}),
        (SUMMARY + "XFAIL a.py::test - once FAILED", {"test": "FAILED"}),
        (SUMMARY + "ERROR a.py - ImportError\nERROR b.py", {"": "ERROR"}),
        (SUMMARY + "\x1b[31mFAILED\x1b[0m a.py::\x1b[1mtest\x1b[0m - x\r\n", {"test": "FAILED"}),
        (SUMMARY + "PASSED a.py::test\n" + SUMMARY + "FAILED a.py::test", {"test": "PASSED"}),
        (SUMMARY + "PASSED a.py::te", {"te": "PASSED"}),
    ],
)
def test_the_oddities_by_name(output: str, found: dict[str, str]) -> None:
    assert statuses(output) == found
    assert published.parsed(output) == found


def test_names_that_fall_together_keep_the_last_in_order() -> None:
    assert comparable({"test[a - 2]": "FAILED", "test[a - 1]": "PASSED"}) == {"test[a": "FAILED"}
    assert comparable({"\x1b[1mtest\x1b[0m": "PASSED"}) == {"test": "PASSED"}


def test_a_line_without_a_name_counts_but_is_not_compared() -> None:
    assert mismatch({"": "ERROR", "a": "PASSED"}, {"b": "PASSED", "a": "PASSED"}) is None
    assert mismatch({"": "ERROR", "a": "PASSED"}, {"a": "PASSED"}) == "2 tests in the summary, 1 expected"


def test_says_which_test_decided() -> None:
    assert mismatch({"a": "FAILED"}, {"a": "PASSED"}) == "a is FAILED, expected PASSED"
    assert mismatch({"a": "PASSED"}, {"b": "PASSED"}) == "a is PASSED, expected no such test"


def test_reads_a_real_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_real.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 1 == 2, 'a - b'\n"
        "@pytest.fixture\n"
        "def broken(): raise ValueError('no')\n"
        "def test_error(broken): pass\n"
        "@pytest.mark.xfail\n"
        "def test_known(): assert False\n"
        "@pytest.mark.xfail\n"
        "def test_mended(): pass\n"
        "@pytest.mark.parametrize('x', ['p - q', 'm::n'])\n"
        "def test_of(x): assert x == 'm::n'\n"
    )
    (tmp_path / "test_unimportable.py").write_text("import no_such_module\n")
    command = [sys.executable, "-m", "pytest", "-rA", "--color=yes", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, "--continue-on-collection-errors", "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        check=False,
    )
    assert comparable(statuses(ran.stdout)) == {
        "": "ERROR",
        "test_good": "PASSED",
        "test_bad": "FAILED",
        "test_error": "ERROR",
        "test_of[p": "FAILED",
        "test_of[m.n]": "PASSED",
    }
