"""A temporary directory as a sandbox: what it shows, how it fails, and that nothing is left of it."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.terminals import PLAIN, Typist, in_a_terminal
from skyrl_train.agent.sandboxes import directory
from skyrl_train.agent.sandboxes.directory import directory_sandbox, end_marked
from skyrl_train.agent.sandboxes.piped import SandboxLostError, piped
from skyrl_train.contracts.agent.arguments import Action

NAP = f"sleep 94.{os.getpid()}"
"""By a name of its own, since it is looked for by its name: others sleep here too."""


@pytest.fixture(autouse=True)
def places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where sandboxes are made; empty again at the end of each test."""
    place = tmp_path_factory.mktemp("places")
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []


def test_begins_in_a_copy_of_the_seed(tmp_path: Path) -> None:
    (tmp_path / "testbed").mkdir()
    (tmp_path / "testbed" / "a.py").write_text("a")

    async def work(typed: Typist) -> tuple[str, int | None]:
        return await typed("ls; echo b >a.py; touch ~/mine; ls -1 $R2E_ROOT; env | cut -d= -f1 | sort | tr '\\n' ' '")

    shown, _ = in_a_terminal(tmp_path, work)
    assert shown.splitlines()[:3] == ["a.py", "root", "testbed"]
    names = set(shown.splitlines()[-1].split())
    assert {"HOME", "PATH", "R2E_ROOT", "SKYRL_SANDBOX", "TERM", "TMPDIR"} <= names
    assert not {"PYTEST_CURRENT_TEST", "USER", "SSH_AUTH_SOCK"} & names  # nothing of whoever started it
    assert (tmp_path / "testbed" / "a.py").read_text() == "a"
    assert not (tmp_path / "root").exists()


def test_the_editor_and_the_terminal_see_the_same_files(tmp_path: Path) -> None:
    async def work(typed: Typist) -> tuple[str, str]:
        directory, _ = await typed("pwd")
        action = Action("file_editor", {"command": "create", "path": f"{directory}/é.txt", "file_text": "naïve\n"})
        told = await typed.sandbox.run(action, limit_s=120.0)
        return told.text.replace(directory, ""), (await typed("cat é.txt"))[0]

    assert in_a_terminal(tmp_path, work) == ("File created successfully at: /é.txt", "naïve")


def test_tools_that_were_killed_are_a_lost_sandbox_and_leave_no_process(tmp_path: Path) -> None:
    pids: list[str] = []

    async def work(typed: Typist) -> None:
        pids.extend(
            (await typed(f"{NAP} & setsid {NAP} & until [ $(pgrep -fxc '{NAP}') = 2 ]; do :; done; pgrep -fx '{NAP}'"))[
                0
            ].split()
        )
        await typed("kill -9 $PPID")

    with pytest.raises(SandboxLostError, match=r"^the sandbox's tools ended: no output$"):
        in_a_terminal(tmp_path, work)
    assert len(pids) == 2
    assert [pid for pid in pids if Path(f"/proc/{pid}/exe").exists()] == []


def test_a_program_that_does_not_begin_says_why(tmp_path: Path) -> None:
    async def opened(*argv: str) -> None:
        async with piped(argv, environ=PLAIN, directory=str(tmp_path)):
            raise AssertionError

    with pytest.raises(SandboxLostError, match=r"^the sandbox's tools ended: no python here$"):
        asyncio.run(opened("sh", "-c", "echo no python here >&2; exit 127"))
    with pytest.raises(
        SandboxLostError, match=r"^the sandbox's tools started with \{'a': 1\}; expected \{'ready': 1\}$"
    ):
        asyncio.run(opened("sh", "-c", "echo '{\"a\": 1}'"))
    with pytest.raises(FileNotFoundError):
        asyncio.run(opened("/no/such/program"))


def test_a_rollout_that_is_cancelled_takes_its_command_with_it(tmp_path: Path) -> None:
    (tmp_path / "testbed").mkdir()
    pid = tmp_path / "pid"

    async def cancelled() -> None:
        async def work() -> None:
            async with directory_sandbox(tmp_path, environ=PLAIN) as sandbox:
                command = f"echo $$ >{pid}.new; mv {pid}.new {pid}; sleep 930"
                await sandbox.run(Action("terminal", {"command": command}), limit_s=600.0)

        task = asyncio.create_task(work())
        while not pid.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert not os.path.exists(f"/proc/{pid.read_text().strip()}/exe")


@pytest.mark.parametrize("cycles", range(12))
def test_a_sandbox_can_be_cancelled_at_any_moment_of_its_start(tmp_path: Path, cycles: int) -> None:
    (tmp_path / "testbed").mkdir()

    async def cancelled() -> None:
        async def work() -> None:
            async with directory_sandbox(tmp_path, environ=PLAIN):
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        for _ in range(cycles):
            await asyncio.sleep(0)
        task.cancel()
        async with asyncio.timeout(200):
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())


def test_the_callers_own_ancestors_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process of some machines never has an environment, and one without is waited for."""
    asked: list[int] = []

    def environ_of(pid: int) -> list[bytes]:
        asked.append(pid)
        return []

    monkeypatch.setattr(directory, "environ_of", environ_of)
    monkeypatch.setattr(directory, "killed", lambda pid, belongs: belongs(pid))
    end_marked("mark")
    assert not {1, os.getpid(), os.getppid()} & set(asked)
