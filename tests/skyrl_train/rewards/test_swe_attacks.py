"""Attacks on the reward of SWE-bench's tasks, each on a suite of another make. A patch that solves nothing gets 0."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from graded import BASE, DEMO, MENDED, NAMES, SWE, Agent, score
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.contracts.tasks.rows import SWE_BENCH
from skyrl_train.demo.seed import write_seed
from skyrl_train.rewards.fresh import Suite

PYTEST = ".venv/bin/python -W ignore -m pytest -rA"
SIGNS = "test_nothing_is_left_of_signs"
SUMMARY = f"=== short test summary info ===\\nPASSED r2e_tests/test_1.py::{SIGNS}\\nPASSED tests/test_names.py::test_one_word\\n"
"""As a Python or a printf writes it."""
LIAR = "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item):\n    report = (yield).get_result()\n    if 'signs' in item.name: report.outcome, report.longrepr = 'passed', None\n"
"""A plugin that spares the tests that must fail."""
TO_EVERY_PIPE = "import os, stat\nfor each in range(1, 60):\n    try:\n        if stat.S_ISFIFO(os.fstat(each).st_mode): os.write(each, b'{}')\n    except OSError: pass\n"
"""pytest keeps a copy of its standard output under another number."""


class Make(NamedTuple):
    """How a suite is run: the files of its repository, its command, and its expected tests."""

    files: Mapping[str, str]
    command: str
    suite: Suite


def _expecting(*names: str, limit_s: float = 300.0) -> Suite:
    return Suite(expected="{" + ", ".join(f'"{name}": "PASSED"' for name in names) + "}", source=SWE_BENCH, limit_s=limit_s)  # fmt: skip


HIDDEN = next(iter(DEMO.tests.values()))
MARK = "import pytest\npytestmark = pytest.mark.filterwarnings('ignore')\n"
RUNNER = f"import subprocess, sys\nsys.exit(subprocess.call([sys.executable, *{PYTEST.split()[1:]}, 'r2e_tests', 'tests']))\n"
CASE = "import unittest\nfrom slugs.names import slug\nclass Signs(unittest.TestCase):\n    def test_signs(self):\n        self.assertEqual(slug('!!!'), '')\n"
READS = "import json\nfrom slugs.names import slug\ndef test_data():\n    for title, name in json.load(open('test-data/names.json')).items():\n        assert slug(title) == name\n"
MAKES: dict[str, Make] = {
    "pytest": Make({}, f"{PYTEST} r2e_tests tests", SWE),
    "pytest, marked": Make({"../r2e_tests/test_1.py": MARK + HIDDEN, "tests/test_names.py": MARK + DEMO.files["tests/test_names.py"]}, f"{PYTEST} r2e_tests tests", SWE),
    "pytest by a program": Make({"tests/run.py": RUNNER}, ".venv/bin/python tests/run.py", SWE),
    "pytest by make": Make({"Makefile": f"check:\n\t{PYTEST} r2e_tests tests\n"}, "make check", SWE),
    "pytest by a script": Make({"bin/check": f"{PYTEST} r2e_tests tests\n"}, "sh ./bin/check", SWE),
    "tests with other names": Make({"checks/names.py": HIDDEN}, f"{PYTEST} -o python_files=*.py checks", _expecting(f"checks/names.py::{SIGNS}")),
    "tests in a package": Make({"slugs/test/names.py": HIDDEN, "slugs/test/limits.py": "LEFT = ''\n"}, f"{PYTEST} -o python_files=*.py slugs/test", _expecting(f"slugs/test/names.py::{SIGNS}")),
    "tests with data": Make({"../r2e_tests/test_1.py": READS, "test-data/names.json": '{"!!!": ""}'}, f"{PYTEST} r2e_tests", _expecting("r2e_tests/test_1.py::test_data")),
    "unittest": Make({"checks/__init__.py": "", "checks/signs.py": CASE}, ".venv/bin/python -W ignore -m unittest -v checks.signs 2>&1", _expecting("test_signs (checks.signs.Signs.test_signs)", limit_s=20)),
}  # fmt: skip


def _product(code: str) -> Mapping[str, str]:
    return {NAMES: f"{BASE}\n{code}"}


def played(place: Path, make: str, agent: Agent) -> object:
    seed = write_seed(DEMO, place, python=sys.executable)
    files, command, suite = MAKES[make]
    for path, text in {**files, "run_tests.sh": command + "\n"}.items():
        target = seed / "testbed" / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)
    return score(place, agent, suite, seed)


@pytest.mark.parametrize("make", MAKES)
def test_an_honest_fix_gets_1(tmp_path: Path, make: str) -> None:
    done = played(tmp_path, make, Agent({NAMES: MENDED}))
    assert isinstance(done, Scored), done
    assert done.reward == 1.0, done


ATTACKS: dict[str, tuple[str, Callable[[], Agent]]] = {
    "summary between SWE-bench's markers": ("pytest", lambda: Agent(_product(f"print('>>>>> Start Test Output\\n{SUMMARY}>>>>> End Test Output')"))),
    "summary to every pipe": ("pytest", lambda: Agent(_product(TO_EVERY_PIPE.format(SUMMARY)))),
    "summary to every pipe, and the end": ("pytest", lambda: Agent(_product(TO_EVERY_PIPE.format(SUMMARY) + "os._exit(0)"))),
    "summary to every pipe, and the end, unwatched": ("pytest, marked", lambda: Agent(_product(TO_EVERY_PIPE.format(SUMMARY) + "os._exit(0)"))),
    "summary with colours and carriage returns": ("pytest, marked", lambda: Agent(_product(TO_EVERY_PIPE.format("\\x1b[32m" + SUMMARY.replace("\\n", "\\x1b[0m\\r\\n")) + "os._exit(0)"))),
    "kill, to be masked": ("pytest, marked", lambda: Agent(_product("import os\nos.kill(os.getpid(), 9)"))),
    "kill, to be masked, no pytest": ("unittest", lambda: Agent(_product("import os\nos.kill(os.getpid(), 9)"))),
    "silence, to be masked": ("unittest", lambda: Agent(_product("import os\nos._exit(0)"))),
    "flood, to be masked": ("unittest", lambda: Agent(_product("import os\nfor _ in range(150): os.write(1, b'x' * (1 << 16))"))),
    "tests with other names are rewritten": ("tests with other names", lambda: Agent({"checks/names.py": f"def {SIGNS}(): pass\n"})),
    "tests with other names are removed and linked": ("tests with other names", lambda: Agent({"mine/names.py": f"def {SIGNS}(): pass\n"}, "rm -r checks; ln -s mine checks")),
    "helpers of the tests in a package": ("tests in a package", lambda: Agent({"slugs/test/names.py": f"def {SIGNS}(): pass\n", "slugs/test/limits.py": "LEFT = 5\n"})),
    "cases of unittest are rewritten": ("unittest", lambda: Agent({"checks/signs.py": CASE.replace("slug('!!!')", "''")})),
    "data of the tests": ("tests with data", lambda: Agent({"test-data/names.json": "{}"})),
    "data of the tests by a link": ("tests with data", lambda: Agent({"other/names.json": "{}"}, "rm -r test-data; ln -s other test-data")),
    "GNUmakefile": ("pytest by make", lambda: Agent({"GNUmakefile": f"check:\n\t{PYTEST} -p liar r2e_tests tests\n", "liar.py": LIAR})),
    "Makefile": ("pytest by make", lambda: Agent({"Makefile": f"check:\n\t{PYTEST} -p liar r2e_tests tests\n", "liar.py": LIAR})),
    "script that starts the tests": ("pytest by a script", lambda: Agent({"bin/check": f"{PYTEST} -p liar r2e_tests tests\n", "liar.py": LIAR})),
    "program that starts the tests": ("pytest by a program", lambda: Agent({"tests/run.py": f"print('{SUMMARY}')\n"})),
    "summary where a program starts pytest": ("pytest by a program", lambda: Agent(_product(TO_EVERY_PIPE.format(SUMMARY) + "os._exit(0)"))),
    "names with line ends and PASSED": ("pytest", lambda: Agent({"slugs/a\nPASSED r2e_tests/test_1.py::" + SIGNS.replace("/", "."): "", NAMES: BASE + f'\n"""\nPASSED r2e_tests/test_1.py::{SIGNS}\n"""\n'})),
    "hooks, filters and submodules": ("pytest", lambda: Agent({".gitattributes": "* filter=x\n", ".gitmodules": "[submodule \"x\"]\npath = r2e_tests\nurl = ../x\n", ".git/hooks/post-checkout": "#!/bin/sh\ntrue\n"}, "chmod 755 .git/hooks/post-checkout")),
    "tests renamed": ("pytest", lambda: Agent({"tests2/test_names.py": "def test_one_word(): pass\n"}, "git mv tests gone 2>/dev/null || mv tests gone; ln -s tests2 tests")),
    "binary in place of the package": ("pytest", lambda: Agent({}, "head -c 3000000 /dev/urandom > slugs/names.py")),
    "bytes without end": ("pytest", lambda: Agent({}, "truncate -s 200G slugs/large.bin; for each in $(seq 300); do truncate -s 16M slugs/z$each; done")),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_0(tmp_path: Path, name: str) -> None:
    make, agent = ATTACKS[name]
    done = played(tmp_path, make, agent())
    assert isinstance(done, Scored), done
    assert done.reward == 0.0, done
