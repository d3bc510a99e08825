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
LIMIT_S = 240
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}


def foreign_tests(
    checkout: Path, files: Sequence[str], plugin: str, different: Mapping[str, str], *, without: str = ""
) -> Iterator[Case]:
    """A case for each test. `different`: names of tests that differ on purpose, with the page and sentence that state it.
    `without`: an expression of pytest for tests of other things."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-p", plugin, "-p", "no:cacheprovider", "-c", os.devnull]
        words += [f"--rootdir={checkout}", f"--junitxml={report}", "--tb=line", "-k", without, *files]
        env = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(words, cwd=checkout, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if not report.exists():
            raise RuntimeError(f"the tests of {checkout} did not run: {(done.stdout + done.stderr)[-2000:]}")
        for case in ET.fromstring(report.read_bytes()).iter("testcase"):
            if case.find("skipped") is not None:
                continue
            fault = next((one for one in case if one.tag in ("failure", "error")), None)
            ours = "passed" if fault is None else (fault.get("message") or "failed").replace("\n", " ")[:200]
            name = case.get("name", "")
            yield Case(f"{case.get('classname')}::{name}", ours, "passed", different.get(name.partition("[")[0], ""))
