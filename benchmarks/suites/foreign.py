"""Runs files of another project's tests on our code: a plugin of pytest puts ours in the place of theirs."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks.suites.cases import ROOT, Case

LIMIT_S = 900
PASSED = "passed"
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1", "LOG_LEVEL": "ERROR"}


def foreign_tests(
    checkout: Path, files: Sequence[str], plugin: str, different: Mapping[str, str], *, choose: str = "", bare: str = ""
) -> Iterator[Case]:
    """A case for each test that the project's installed package passes itself: a checkout may be of another version.

    Many tests wait for seconds of a clock: what ours alone fails is run once more, by both, and counts if theirs passes again.
    `different`: names of tests that differ on purpose, with the page and sentence that state it. `choose`: pytest's -k.
    `bare`: a plugin that their own code needs.
    """
    theirs = _results(checkout, files, bare, choose)
    ours = _results(checkout, files, plugin, choose)
    failed = {name for name, result in ours.items() if result != PASSED and theirs.get(name) == PASSED}
    if again := sorted({_short(name) for name in failed} - different.keys()):
        only = " or ".join(again)
        ours |= _results(checkout, files, plugin, only)
        theirs |= _results(checkout, files, bare, only)
        late = sorted(name for name in failed if ours[name] == PASSED or theirs[name] != PASSED)
        print(f"run again: {', '.join(again)}; late, not wrong: {', '.join(late)};", file=sys.stderr, flush=True)
    for name, result in sorted(ours.items()):
        if theirs.get(name) == PASSED:
            yield Case(name, result, PASSED, different.get(_short(name), ""))


def _short(name: str) -> str:
    """The name of a test's function."""
    return name.rpartition("::")[2].partition("[")[0]


def _results(checkout: Path, files: Sequence[str], plugin: str, choose: str) -> dict[str, str]:
    """The result of each test that is not skipped. `python` in a test is that of this environment."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--tb=line"]
        words += ["-o", "asyncio_mode=auto", *(["-p", plugin] if plugin else [])]
        words += [f"--rootdir={checkout}", f"--junitxml={report}", "-k", choose, *files]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, **QUIET, "PATH": path, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            words, cwd=checkout, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        if not report.exists():
            raise RuntimeError(f"the tests of {checkout} did not run: {(done.stdout + done.stderr)[-2000:]}")
        cases = [*ET.fromstring(report.read_bytes()).iter("testcase")]
    ran = [case for case in cases if case.find("skipped") is None]
    return {f"{case.get('classname')}::{case.get('name')}": _result(case) for case in ran}


def _result(case: ET.Element) -> str:
    fault = next((one for one in case if one.tag in ("failure", "error")), None)
    return PASSED if fault is None else (fault.get("message") or "failed").replace("\n", " ")[:200]
