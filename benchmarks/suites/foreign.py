"""Runs files of another project's tests on our code: a plugin of pytest puts ours in the place of theirs."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks.suites.cases import Case

ROOT = Path(__file__).parents[2]
LIMIT_S = 600
PASSED = "passed"
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1", "LOG_LEVEL": "ERROR"}


def foreign_tests(
    checkout: Path, files: Sequence[str], plugin: str, different: Mapping[str, str], *, choose: str = "", bare: str = ""
) -> Iterator[Case]:
    """A case for each test that the project's installed package passes itself: a checkout may be of another version.

    `different`: names of tests that differ on purpose, with the page and sentence that state it. `choose`: pytest's -k.
    `bare`: a plugin that their own code needs.
    """
    theirs = _results(checkout, files, bare, choose)
    ours = _results(checkout, files, plugin, choose)
    for name, result in sorted(ours.items()):
        if theirs.get(name) == PASSED:
            short = name.rpartition("::")[2].partition("[")[0]
            yield Case(name, result, PASSED, different.get(short, ""))


def _results(checkout: Path, files: Sequence[str], plugin: str, choose: str) -> dict[str, str]:
    """The result of each test that is not skipped."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--tb=line",
            "-o",
            "asyncio_mode=auto",
        ]
        words += ["-p", plugin] if plugin else []
        words += [f"--rootdir={checkout}", f"--junitxml={report}", "-k", choose, *files]
        env = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT)}
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
