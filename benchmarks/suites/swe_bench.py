"""SWE-bench's parsers and grading, and SWE-smith's fixtures, as judges of the reward."""

import importlib
import importlib.util
import itertools
import json
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.suites.cases import Case
from benchmarks.suites.foreign import foreign_tests
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.contracts.rewards.suite_run import SuiteRun
from skyrl_train.rewards.swe import score_swe_run

SKIPPED = "docs/rewards.md: A skipped test does not pass, also in PASS_TO_PASS"
VERSION = "docs/rewards.md: passes only with its own status"
ALWAYS_PASSES = "--version is equivalent to version"
"""SWE-bench takes this test of Django as passed wherever its description is printed."""
NODE_IDS = (
    "tests/test_a.py::test_b",
    "tests/test_a.py::TestC::test_d[x-1]",
    "tests/test_a.py::test_e[a b]",
    "tests/test_a.py::test_e[log(photon / m**2 s)]",
    "tests/test_a.py::test_f[/home/user/data/x.txt]",
    "tests/test_a.py::test_f[//server/x]",
    "tests/test_a.py::test_g[MouseButton.LEFT-MouseButton.RIGHT]",
    "tests/test_a.py::test_h[a - b]",
    "tests/test_a.py::test_i[m⁻¹-unit3 extra]",
)
DJANGO = (
    "test_a (app.tests.F)",
    "test_b (app.tests.F.test_b)",
    "The view answers with 404 (#1234).",
    "--version is equivalent to version",
)


def harness(name: str) -> Any:
    """A module of swebench.harness, without the package's __init__, which imports docker, datasets and modal."""
    if "swebench.harness" not in sys.modules:
        spec = importlib.util.find_spec("swebench")
        assert spec is not None
        assert spec.origin is not None
        package = types.ModuleType("swebench.harness")
        package.__path__ = [str(Path(spec.origin).parent / "harness")]
        sys.modules["swebench.harness"] = package
    importlib.import_module("swebench")
    return importlib.import_module(f"swebench.harness.{name}")


def cases(_: Path) -> Iterator[Case]:
    """Each format with each status, under the names that the judge itself reads from it."""
    parsers = harness("log_parsers.python").MAP_REPO_TO_PARSER_PY
    for repo, parser in sorted(parsers.items()):
        for name, log in _logs(repo):
            yield from _read_alike(f"{repo}: {name}", parser, log)
    yield from _grading()


def _logs(repo: str) -> Iterator[tuple[str, str]]:
    """Outputs in the format of a repository's test program, by the rules of its parser."""
    if repo == "django/django":
        for test, end in itertools.product(DJANGO, ("ok", "FAIL", "ERROR", "skipped 'no database'")):
            yield f"{test} {end}", f"{test} ... {end}\n"
            yield f"{test} interrupted, {end}", f"{test} ... Internal Server Error: /a/\n{end}\n"
            yield f"{test} described, {end}", f"test_z (app.tests.Z)\n{test} ... {end}\n"
            yield f"{test} checked, {end}", f"{test} ... System check identified no issues (0 silenced)\n{end}\n"
        return
    if repo == "sympy/sympy":
        for end in ("ok", "F", "E"):
            yield end, f"sympy/core/tests/test_a.py[3] \ntest_solve {end}\ntest_roots ok\n"
        return
    for node, status in itertools.product(NODE_IDS, ("PASSED", "FAILED", "ERROR", "XFAIL")):
        message = " - AssertionError: assert 1 == 2" if status in ("FAILED", "ERROR") else ""
        yield f"summary {node} {status}", f"{status} {node}{message}\n"
        yield f"coloured {node} {status}", f"\x1b[32m{status}\x1b[0m {node}{message}\n"
        if " " not in node:
            yield f"verbose {node} {status}", f"{node} {status} [ 50%]\n"
            yield f"old verbose {node} {status}", f"{node} {status}\n"
    yield "skips", "SKIPPED [1] tests/test_a.py:12: needs network\nPASSED tests/test_a.py::test_b\n"
    yield "progress", "PASSED [100%]\nPASSED tests/test_a.py::test_b\n"
    yield "bare", "PASSED\nFAILED\nPASSED tests/test_a.py::test_b\n"


def _read_alike(name: str, parser: Callable[[str, None], dict[str, str]], log: str) -> Iterator[Case]:
    for test, status in parser(log, None).items():
        passes = status in ("PASSED", "XFAIL")
        documented = VERSION if test == ALWAYS_PASSES else ""
        yield Case(f"{name}: {test}", _reward([test], log), float(passes), documented)


def _grading() -> Iterator[Case]:
    """The judge's grading of names that are cut, ambiguous, missing or skipped."""
    grading = harness("grading")
    base = "tests/test_a.py::test_x"
    found: Sequence[dict[str, str]] = (
        {f"{base}[case-1]": "PASSED"},
        {f"{base}[case-1-extended]": "PASSED"},
        {f"{base}[log(photon / m**2 s)]": "PASSED"},
        {f"{base}[log(photon / m**2 s)]": "FAILED"},
        {f"{base}[args1-None]": "PASSED", f"{base}[args1-No-value]": "PASSED"},
        {f"{base}[args1-None]": "PASSED", f"{base}[args1-No-value]": "FAILED"},
        {f"{base}[args1-None]": "PASSED", f"{base}[args1-No-value]": "XFAIL"},
        {f"{base}[args1-None]": "XFAIL"},
        {f"{base}[case-1]": "ERROR"},
        {f"{base}[case-1]": "SKIPPED"},
        {"handles foo] gracefully and more": "PASSED"},
    )
    names = (f"{base}[case-1]", f"{base}[log(photon", f"{base}[args1-No", "handles foo] gracefully")
    for statuses, name in itertools.product(found, names):
        log = "".join(f"{status} {test}\n" for test, status in statuses.items())
        expected = float(grading.test_passed(name, statuses))
        yield Case(f"FAIL_TO_PASS {name} in {statuses}", _reward([name], log), expected)
        kept = float(grading.test_maintained(name, statuses))
        yield Case(
            f"PASS_TO_PASS {name} in {statuses}", _reward([name], log), kept, SKIPPED if kept != expected else ""
        )


def smith_cases(checkout: Path) -> Iterator[Case]:
    """SWE-smith's fixtures: each test that its reports or parsers find."""
    logs = checkout / "tests/test_logs"
    for report in sorted(logs.glob("run_evaluation/*/report.json")):
        log = (report.parent / "test_output.txt").read_text(encoding="utf-8", errors="replace")
        for name, kind in _reported(json.loads(report.read_text())):
            yield Case(f"{report.parent.name}: {name}", _reward([name], log), float(kind == "success"))
    parsers = _smith_parsers(checkout)
    for file, parser in (("django-money__*", "parse_log_pytest"), ("gin-gonic__*", "parse_log_gotest")):
        for path in sorted((logs / "test_output").glob(file)):
            log = path.read_text(encoding="utf-8", errors="replace")
            for name, status in parsers[parser](log).items():
                yield Case(f"{path.name}: {name}", _reward([name], log), float(status in ("PASSED", "XFAIL")))


def _reported(report: Any) -> Iterator[tuple[str, str]]:
    for tests in report.get("tests_status", {}).values():
        for kind, names in tests.items():
            yield from ((name, kind) for name in names)


def _smith_parsers(checkout: Path) -> dict[str, Any]:
    harness("constants")
    spec = importlib.util.spec_from_file_location("smith_log_parsers", checkout / "swesmith/harness/log_parsers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def _reward(names: Sequence[str], log: str) -> float:
    score = score_swe_run(SuiteRun(output=log, exit_code=1), json.dumps(dict.fromkeys(names, "PASSED")))
    return score.reward if isinstance(score, Scored) else -1.0


TESTS = (
    "tests/test_grading_truncated_ids.py",
    "tests/test_grading_skipped.py",
    "tests/test_grading_marker_fallback.py",
    "tests/test_log_parsers_pytest_v2.py",
    "tests/test_log_parsers_python.py",
    "tests/test_log_parsers_skip_summary.py",
)
ADAPTERS = "benchmarks.suites.adapters"
DIFFERENT = dict.fromkeys(("test_skipped_p2p_is_maintained", "test_skipped_p2p_does_not_block_resolution"), SKIPPED)


def own_tests(checkout: Path) -> Iterator[Case]:
    """SWE-bench's own tests of its parsers and grading, of our code."""
    yield from foreign_tests(checkout, TESTS, f"{ADAPTERS}.swe_bench", DIFFERENT, bare=f"{ADAPTERS}.swe_bench_bare")
