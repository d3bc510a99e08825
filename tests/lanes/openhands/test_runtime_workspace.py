"""The real workspace client of OpenHands against our server and our sandboxd, over real sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.engine import IMAGE
from fakes.runtime import KEY
from fakes.serving import http_server

pytestmark = pytest.mark.openhands


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with http_server(tmp_path) as url:
        yield url


def test_a_session_of_the_real_client(url: str, tmp_path: Path) -> None:
    from openhands.workspace import APIRemoteWorkspace

    workspace = APIRemoteWorkspace(
        runtime_api_url=url, runtime_api_key=KEY, server_image=IMAGE, session_id="real-1", working_dir=str(tmp_path)
    )
    with workspace:
        said = workspace.execute_command("echo hello; exit 3", cwd=str(tmp_path), timeout=120)
        assert (said.exit_code, said.stdout, said.timeout_occurred) == (3, "hello\n", False)
        late = workspace.execute_command("sleep 600", cwd=str(tmp_path), timeout=5)
        assert (late.exit_code, late.timeout_occurred) == (-1, True)
        there, back = tmp_path / "there", tmp_path / "back"
        there.write_bytes(b"\0bytes\xff" * 1000)
        sent = workspace.file_upload(str(there), str(tmp_path / "inside"))
        assert sent.success, sent
        got = workspace.file_download(str(tmp_path / "inside"), str(back))
        assert got.success, got
        assert back.read_bytes() == there.read_bytes()
        workspace.pause()
        workspace.resume()
        assert workspace.execute_command("echo again", cwd=str(tmp_path), timeout=120).stdout == "again\n"


def test_a_wrong_key_is_told_at_once(url: str) -> None:
    import httpx
    from openhands.workspace import APIRemoteWorkspace

    with pytest.raises((httpx.HTTPStatusError, ValueError, RuntimeError), match=r"401|nauthorized"):
        APIRemoteWorkspace(runtime_api_url=url, runtime_api_key="wrong", server_image=IMAGE, session_id="real-2")


def test_an_image_that_is_not_there_fails_with_its_cause(url: str) -> None:
    from openhands.workspace import APIRemoteWorkspace

    with pytest.raises(ValueError, match="there is no registry here"):
        APIRemoteWorkspace(
            runtime_api_url=url, runtime_api_key=KEY, server_image="localhost/none:1", session_id="real-3"
        )
