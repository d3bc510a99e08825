"""The real workspace clients drive sandboxd, and do not notice that it is not the server they know."""

import asyncio
import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandboxd_process import KEY, Sandboxd, running

pytestmark = pytest.mark.openhands


@pytest.fixture(scope="module")
def sandboxd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandboxd]:
    with running(tmp_path_factory.mktemp("sandboxd")) as process:
        yield process


@contextlib.contextmanager
def remote_workspace(**options: str) -> Iterator[Any]:
    """Imported when it is wanted, since the SDK reads its environment while it is; its connections closed at the end."""
    from openhands.sdk.workspace import RemoteWorkspace

    made = RemoteWorkspace(**options)
    yield made
    made.reset_client()


@pytest.fixture
def remote(sandboxd: Sandboxd, tmp_path: Path) -> Iterator[Any]:
    with remote_workspace(host=sandboxd.url, api_key=KEY, working_dir=str(tmp_path)) as made:
        yield made


def test_commands(remote: Any, tmp_path: Path) -> None:
    done = remote.execute_command("echo out; echo err >&2; pwd; exit 3", cwd=tmp_path)
    assert (done.exit_code, done.stdout, done.stderr, done.timeout_occurred) == (
        3,
        f"out\n{tmp_path}\n",
        "err\n",
        False,
    )


def test_a_command_that_takes_too_long(remote: Any) -> None:
    done = remote.execute_command("echo out; sleep 600", timeout=5)
    assert (done.exit_code, done.timeout_occurred) == (-1, True)
    assert "timed out after 5" in done.stderr


def test_a_great_deal_of_output_comes_whole(remote: Any) -> None:
    done = remote.execute_command("head -c 3M /dev/zero | tr '\\0' x")
    assert (done.exit_code, len(done.stdout), done.stderr) == (0, 3 * 1024 * 1024, "")


def test_commands_in_the_background(remote: Any) -> None:
    begun = Path(remote.working_dir, "begun")
    started = remote.start_command(f"echo up; : > '{begun}'; sleep 600")
    while not begun.exists():
        assert remote.get_command_output(started) is None
    remote.stop_command(started)
    output = None
    while output is None:
        output = remote.get_command_output(started)
    assert (output["exit_code"], output["stdout"]) == (-15, "up\n")
    remote.stop_command("0" * 32)


@pytest.mark.parametrize("content", [b"", b"\0\xff\r\n" * 100_000])
def test_files(remote: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "here").write_bytes(content)
    up = remote.file_upload(tmp_path / "here", tmp_path / "there/é file")
    assert (up.success, up.file_size, up.error) == (True, len(content), None)
    down = remote.file_download(tmp_path / "there/é file", tmp_path / "back")
    assert (down.success, down.file_size, down.error) == (True, len(content), None)
    assert (tmp_path / "back").read_bytes() == content


def test_a_file_that_is_not_there(remote: Any, tmp_path: Path) -> None:
    down = remote.file_download("/no/such/file", tmp_path / "back")
    assert (down.success, "404" in (down.error or "")) == (False, True)


def test_git(remote: Any, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    (tmp_path / "file").write_text("before\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    (tmp_path / "file").write_text("after\n")
    changes = remote.git_changes(tmp_path)
    assert [(change.status.value, str(change.path)) for change in changes] == [("UPDATED", "file")]
    diff = remote.git_diff("file")
    assert (diff.original, diff.modified) == ("before", "after")


def test_the_asynchronous_client(sandboxd: Sandboxd, tmp_path: Path) -> None:
    async def use() -> tuple[Any, Any]:
        from openhands.sdk.workspace import AsyncRemoteWorkspace

        made = AsyncRemoteWorkspace(host=sandboxd.url, api_key=KEY, working_dir=str(tmp_path))
        done = await made.execute_command("echo out; exit 3")
        up = await made.file_upload(b"content", tmp_path / "up")
        await made.client.aclose()
        return done, up

    done, up = asyncio.run(use())
    assert (done.exit_code, done.stdout, up.success) == (3, "out\n", True)
    assert (tmp_path / "up").read_bytes() == b"content"


def test_server_info(remote: Any) -> None:
    assert remote.get_server_info()["title"] == "sandboxd"


def test_a_wrong_key_is_told(sandboxd: Sandboxd) -> None:
    with remote_workspace(host=sandboxd.url, api_key="wrong", working_dir="/") as stranger:
        done = stranger.execute_command("touch /tmp/never")
    assert (done.exit_code, "401" in done.stderr) == (-1, True)
