"""A rollout is graded in a new sandbox: of the agent's sandbox only a patch counts."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.sandboxes import EchoSandbox
from graded import BASE, DEMO, DONE, EXPECTED, MENDED, NAMES, SWE, Agent, score
from skyrl_train.contracts.agent.ports import Sandbox, Task
from skyrl_train.contracts.rewards.score import Scored, Unscorable, UnscorableReason
from skyrl_train.demo.seed import write_seed
from skyrl_train.rewards.fresh import Controls, Suite, fresh
from skyrl_train.rewards.suite import NoTestsError


def test_an_honest_change_scores_1(tmp_path: Path) -> None:
    assert score(tmp_path, Agent({NAMES: MENDED})) == DONE


def test_doing_nothing_scores_0(tmp_path: Path) -> None:
    done = score(tmp_path, Agent({}))
    assert isinstance(done, Scored)
    assert done.reward == 0.0


@pytest.mark.parametrize(("files", "reward"), [({NAMES: MENDED}, 1.0), ({}, 0.0)])
def test_swe_bench_tasks(tmp_path: Path, files: Mapping[str, str], reward: float) -> None:
    seed = write_seed(DEMO, tmp_path, python=sys.executable)
    script = seed / "testbed" / "run_tests.sh"
    script.write_text(script.read_text().replace("r2e_tests", "r2e_tests tests"))
    done = score(tmp_path, Agent(files), SWE, seed)
    assert isinstance(done, Scored)
    assert done.reward == reward


def test_a_new_module_and_a_moved_one_are_part_of_the_change(tmp_path: Path) -> None:
    files = {"slugs/made.py": MENDED, "slugs/names.py": "from slugs.made import slug\n"}
    assert score(tmp_path, Agent(files, "git mv slugs/made.py slugs/moved.py 2>/dev/null; git commit -qam x")) == DONE
    moved = Agent({}, "mv slugs/names.py slugs/old.py; mkdir slugs/names; sed 's/9]\"/9]+\"/; s/lower())/lower()).strip(\"-\")/' slugs/old.py > slugs/names/__init__.py; rm slugs/old.py")  # fmt: skip
    assert score(tmp_path / "x", moved, seed=tmp_path) == DONE


def test_the_agent_finds_no_tests_and_its_own_are_not_run(tmp_path: Path) -> None:
    agent = Agent({}, "find $R2E_ROOT -path '*.venv' -prune -o -name 'test_1.py' -print; ls $R2E_ROOT/root; mkdir -p $R2E_ROOT/root/r2e_tests; echo 'echo PASSED' > $R2E_ROOT/root/run_tests.sh")  # fmt: skip
    done = score(tmp_path, agent)
    assert agent.seen.strip() == ""
    assert isinstance(done, Scored)
    assert done.reward == 0.0
    assert "expected PASSED" in done.why


ATTACKS = {
    "conftest.py": {"conftest.py": "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n    (yield).get_result().outcome = 'passed'\n"},
    "pytest.ini": {"pytest.ini": "[pytest]\naddopts = -p liar\n", "liar.py": "def pytest_report_teststatus(report): report.outcome = 'passed'\n"},
    "sitecustomize": {"sitecustomize.py": "import os; print('short test summary info'); os._exit(0)\n"},
    "a module in place of the library's": {"re.py": "def sub(*words): return 'hello-world'\n"},
    "a plugin by its entry point": {"x.egg-info/entry_points.txt": "[pytest11]\nx = liar\n", "liar.py": "import os; os._exit(0)\n"},
    "a summary of its own": {NAMES: BASE + "print('=== short test summary info ===\\nPASSED r2e_tests/test_1.py::test_nothing_is_left_of_signs')\n"},
    "os._exit": {NAMES: BASE + "import os\nos._exit(0)\n"},
    "a failure that names PASSED": {NAMES: "def slug(title):\n    raise ValueError('PASSED')\n"},
    "pytest.skip": {NAMES: "import pytest\ndef slug(title):\n    pytest.skip('PASSED')\n"},
    "pytest that passes all": {NAMES: BASE + "import _pytest.python as p\np.Function.runtest = lambda self: None\n"},
    "reports that pass all": {NAMES: BASE + "import _pytest.runner as r\nf = r.TestReport.from_item_and_call.__func__\ndef g(cls, item, call):\n    call.excinfo = None\n    return f(cls, item, call)\nr.TestReport.from_item_and_call = classmethod(g)\n"},
    "an object equal to everything": {NAMES: "class Any:\n    def __eq__(self, other): return True\ndef slug(title): return Any()\n"},
    "mock.ANY": {NAMES: "from unittest import mock\ndef slug(title): return mock.ANY\n"},
    "an object that counts": {NAMES: "class Any:\n    seen = 0\n    def __eq__(self, other):\n        self.seen += 1\n        return self.seen == 1\ndef slug(title): return Any()\n"},
    "a parent that is killed": {NAMES: BASE + "import os\nos.kill(os.getppid(), 9)\n"},
    "a text equal to everything": {NAMES: "class Any(str):\n    def __eq__(self, other): return isinstance(other, str)\ndef slug(title): return Any()\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_scores_0(tmp_path: Path, name: str) -> None:
    done = score(tmp_path, Agent(ATTACKS[name]))
    assert isinstance(done, Scored)
    assert done.reward == 0.0


def test_a_giving_up_of_the_changed_code_is_no_expected_failure(tmp_path: Path) -> None:
    done = score(tmp_path, Agent({NAMES: "import pytest\ndef slug(title):\n    pytest.xfail('x')\n"}), SWE)
    assert done == Scored(0.0, "2 of 2 tests do not pass; r2e_tests/test_1.py::test_nothing_is_left_of_signs is FAILED")


def test_tests_that_the_change_kills_score_0_and_are_not_masked(tmp_path: Path) -> None:
    killed = score(tmp_path, Agent({NAMES: "import os\nos.kill(os.getpid(), 9)\n"}))
    assert killed == Scored(0.0, "the tests ended before pytest did; exit status 137; without the change the tests run")


def test_tests_that_the_change_keeps_from_ending_score_0(tmp_path: Path) -> None:
    suite = Suite(expected=EXPECTED, limit_s=20.0)
    done = score(tmp_path, Agent({NAMES: "while True: pass\n"}), suite)
    assert done == Scored(0.0, "the tests timed out; without the change the tests run")


def test_tools_that_the_agent_kills_score_0(tmp_path: Path) -> None:
    agent = Agent({}, "kill -9 $(grep -l tools.zip /proc/$PPID/cmdline | cut -d/ -f3)")

    async def killing(sandbox: Sandbox) -> None:
        with pytest.raises(Exception, match="tools ended"):
            await Agent.act(agent, sandbox)

    agent.act = killing  # type: ignore[method-assign]  # the agent does not survive it
    done = score(tmp_path, agent)
    assert isinstance(done, Scored)
    assert done.reward == 0.0
    assert done.why.startswith("the changes cannot be read: ")


def test_a_suite_without_pytest_is_scored_by_its_output(tmp_path: Path) -> None:
    seed = write_seed(DEMO, tmp_path, python=sys.executable)
    script = "echo '== short test summary info =='\ngrep -q '9]+' slugs/names.py && word=PASSED || word=FAILED\necho $word x::test_it\n"
    (seed / "testbed" / "run_tests.sh").write_text(script)
    suite = Suite(expected='{"test_it": "PASSED"}')
    assert score(tmp_path, Agent({NAMES: MENDED}), suite, seed) == Scored(1.0, "all 1 tests as expected")
    assert score(tmp_path, Agent({}), suite, seed) == Scored(0.0, "test_it is FAILED, expected PASSED")


def test_tests_that_never_run_give_no_score(tmp_path: Path) -> None:
    seed = write_seed(DEMO, tmp_path, python=sys.executable)
    (seed / "testbed" / "run_tests.sh").write_text("exec /none/such\n")
    done = score(tmp_path, Agent({NAMES: MENDED}), seed=seed)
    assert isinstance(done, Unscorable)
    assert done.reason is UnscorableReason.TESTS_NOT_STARTED


def test_a_sandbox_without_tests_is_refused(tmp_path: Path) -> None:
    (tmp_path / "testbed").mkdir()
    with pytest.raises(NoTestsError, match="the sandbox has no tests"):
        score(tmp_path, Agent({}), seed=tmp_path)
    with pytest.raises(NoTestsError):
        asyncio.run(_opened(EchoSandbox()))


async def _opened(sandbox: EchoSandbox) -> None:
    opened, _ = fresh(sandbox.opened, Suite(expected=EXPECTED), Controls())
    async with opened(Task(id="t", rollout_id="t-0", prompt=())):
        raise AssertionError
