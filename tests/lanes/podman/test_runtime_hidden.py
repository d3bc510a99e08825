"""The agent looks for the tests in a real container, as root and with all that is there, and does not find them; then a
new container is graded, whatever it left in their place.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE, SHORT_S
from lanes.podman.runtime import Server
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.ports import Grade, Sandbox, Scorer, Task
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Score, Scored
from skyrl_train.rewards.fresh import Controls, Suite, fresh
from skyrl_train.rewards.suite import suite_scorer
from skyrl_train.sandbox.client.runtime import RuntimeClient, SandboxRequest
from skyrl_train.sandbox.client.tools import opener

pytestmark = pytest.mark.podman
TASK_IMAGE = "localhost/r2e:1"
SECRET = "do-not-read-this-5b1f"
APPLETS = ["cat", "chmod", "chown", "cp", "cut", "dirname", "env", "find", "grep", "date", "head", "id", "ln", "ls", "mkdir", "mkfifo", "mv", "printf", "ps", "pwd", "rm", "sed", "setsid", "sh", "sleep", "sort", "stat", "tail", "tar", "touch", "tr", "true", "wc", "xargs"]  # fmt: skip
RUN_TESTS = """\
grep -q %s r2e_tests/test_secret.py && word=PASSED || word=FAILED
echo "=== short test summary info ==="
echo "$word r2e_tests/test_secret.py::test_it"
"""
TRANSCRIPT = Transcript(task_id="t", rollout_id="t-0", prompt=(), prompt_ids=(), steps=(), finish=Finish.FINISH_TOOL)
HALVES = f"{SECRET[:9]}''{SECRET[9:]}"
"""As a shell joins it: the command that looks for the secret does not hold it."""
HUNTS = {
    "by name": "find / -path /proc -prune -o -path /sys -prune -o '(' -name 'r2e_tests*' -o -name '.r2e_tests.tar' "
    "-o -name 'test_secret*' -o -name run_tests.sh ')' -print 2>/dev/null",
    "by content": f"find /testbed /root /r2e_tests /tmp /var /etc /opt /home /dev/shm /run -type f -exec grep -lF {HALVES} {{}} + 2>/dev/null",
    "roots of processes": "ls -d /proc/[0-9]*/root/r2e_tests /proc/[0-9]*/root/root/r2e_tests /proc/[0-9]*/cwd/r2e_tests 2>/dev/null",
    "open files": "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -E 'r2e_tests|test_secret|run_tests'",
    "contents of open files": f"for each in /proc/[0-9]*/fd/*; do [ -f $each ] && grep -qF {HALVES} $each && echo $each; done 2>/dev/null",
    "environments": f"for each in /proc/[0-9]*/environ; do tr '\\0' '\\n' <$each | grep -F {HALVES}; done 2>/dev/null",
    "command lines": "for each in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$each | grep -E '[t]est_secret'; done 2>/dev/null",
}  # fmt: skip


@pytest.fixture
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    made = Server(lab).stock(image_archive)
    try:
        made.up()
        _build(made)
        yield made
    finally:
        made.close()
        lab.close()


def _build(server: Server) -> None:
    """An image as R2E-Gym's are: the tests at the root, their command in the repository."""
    place = server.lab.base / "image-of-a-task"
    (place / "bin").mkdir(parents=True)
    (place / "testbed").mkdir()
    (place / "r2e_tests").mkdir()
    for name in APPLETS:
        (place / "bin" / name).symlink_to("busybox")
    copies = "COPY bin /bin\nCOPY testbed /testbed\nCOPY r2e_tests /r2e_tests\n"
    for path in _bash():
        target = place / "system" / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(path), target)
        copies += f"COPY system{path} {path}\n"
    (place / "testbed" / "run_tests.sh").write_text(RUN_TESTS % SECRET)
    (place / "r2e_tests" / "test_secret.py").write_text(f"def test_it(): assert '{SECRET}'\n")
    (place / "Containerfile").write_text(f"FROM {IMAGE}\n{copies}")
    done = server.podman("build", "-q", "--layers=false", "-t", TASK_IMAGE, str(place))
    assert done.returncode == 0, done.stdout
    shutil.rmtree(place)


def _bash() -> list[str]:
    """This machine's, with what it is linked to: the agent's terminal is one."""
    linked = subprocess.run(["ldd", "/bin/bash"], capture_output=True, text=True, check=True).stdout.split()
    return ["/bin/bash", *(word for word in linked if word.startswith("/"))]


async def said(sandbox: Sandbox, command: str) -> str:
    result = await sandbox.run(Action("terminal", {"command": command, "reset": True}), limit_s=SHORT_S)
    return result.text


async def played(server: Server, *, hide: bool) -> tuple[dict[str, str], Score]:
    task = Task(id="t", rollout_id="t-0", prompt=())
    expected = '{"test_it": "PASSED"}'
    async with RuntimeClient(server.url, server.key) as client:
        sandboxes = opener(client, lambda _task: SandboxRequest(image=TASK_IMAGE))
        opened, scorer = fresh(sandboxes, Suite(expected=expected), Controls())
        async with (opened if hide else sandboxes)(task) as sandbox:
            found, score = await _hunted(sandbox, scorer if hide else suite_scorer(expected))
        return found, await score() if callable(score) else score


async def _hunted(sandbox: Sandbox, scorer: Scorer) -> tuple[dict[str, str], Score | Grade]:
    found = {name: await said(sandbox, f"echo begin; {hunt}; echo end") for name, hunt in HUNTS.items()}
    await said(sandbox, "mkdir -p /root/r2e_tests /testbed/r2e_tests; echo 'echo PASSED' > /root/run_tests.sh")
    return {name: _between(text) for name, text in found.items()}, await scorer(sandbox, TRANSCRIPT)


def _between(text: str) -> str:
    """What a hunt brought."""
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(lines[lines.index("begin") + 1 : lines.index("end")])


def test_an_agent_that_looks_for_the_tests_finds_none_and_its_own_are_not_run(server: Server) -> None:
    found, score = asyncio.run(played(server, hide=True))
    assert found == dict.fromkeys(HUNTS, "")
    assert score == Scored(1.0, "all 1 tests as expected")


def test_the_same_hunts_find_them_where_they_are_not_hidden(server: Server) -> None:
    """Else the test above would show nothing."""
    found, _ = asyncio.run(played(server, hide=False))
    assert sorted(found["by name"].split()) == ["/r2e_tests", "/r2e_tests/test_secret.py", "/testbed/run_tests.sh"]
    assert sorted(found["by content"].split()) == ["/r2e_tests/test_secret.py", "/testbed/run_tests.sh"]
    assert "/proc/1/root/r2e_tests" in found["roots of processes"].split()
