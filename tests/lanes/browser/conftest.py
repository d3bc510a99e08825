"""A browser for a whole session, and a job with hostile texts that the report and the viewer show."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from job_samples import make_job, transcript
from lanes.browser.cdp import Page, browser
from skyrl_train.agent.journal import append

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def axe() -> Path:
    """axe-core's program; .ci/browser-lane names it."""
    return Path(os.environ["AXE_CORE"])


@pytest.fixture(scope="session")
def chromium() -> Iterator[Page]:
    with browser() as page:
        yield page


@pytest.fixture
def page(chromium: Page) -> Page:
    chromium.errors.clear()
    chromium.requests.clear()
    return chromium


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_job(tmp_path_factory.mktemp("browser") / "job", steps=30, prompts=3, samples=4)
    append(made / "rollouts" / "step_31.jsonl", transcript("huge", text="x" * (10 << 20), output="y" * (10 << 20)))
    return made


@pytest.fixture(scope="session")
def report(job: Path) -> Path:
    out = job.parent / "report.html"
    words = [sys.executable, "-m", "skyrl_doctor", "report", str(job), "-o", str(out)]
    subprocess.run(words, check=True, timeout=120, cwd=ROOT, stdout=subprocess.DEVNULL)
    return out


@pytest.fixture(scope="session")
def viewer(job: Path) -> Iterator[str]:
    """The address of a running viewer."""
    environ = {**os.environ, "XDG_CACHE_HOME": str(job.parent / "cache"), "PYTHONUNBUFFERED": "1"}
    words = [sys.executable, "-m", "skyrl_train", "view", str(job)]
    with subprocess.Popen(words, env=environ, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.match(r"open (http://\S+)", process.stdout.readline())
        assert found is not None
        yield found[1]
        process.terminate()
