"""The same requests to the real agent server and to sandboxd: the same statuses and the same JSON.

Where they differ, the difference is written down with its reason, and a test holds that it is one still.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from lanes.openhands.real_agent_server import real_agent_server
from sandboxd_process import running

pytestmark = [
    pytest.mark.openhands,
    pytest.mark.skipif(
        find_spec("openhands") is None or find_spec("openhands.agent_server") is None,
        reason="openhands-agent-server is not installed",
    ),
]

Servers = dict[str, tuple[httpx.Client, Path]]
_OF_ITS_OWN = ("id", "timestamp", "command_id", "next_page_id")
"""Values that no two servers share."""


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    base = tmp_path_factory.mktemp("both")
    for name in ("real", "ours"):
        lay_out(base / name / "work")
    (base / "real/home").mkdir()
    (base / "ours/home").mkdir()
    with real_agent_server(base / "real/home") as real, running(base / "ours/home") as ours:
        yield {"real": (real, base / "real/work"), "ours": (ours.client, base / "ours/work")}


def lay_out(work: Path) -> None:
    """A file, a directory, and a repository with changes."""
    (work / "dir").mkdir(parents=True)
    (work / "file").write_text("content\n")
    repository = work / "repository"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for name in ("changed", "deleted", "moved"):
        (repository / name).write_text(f"{name}\n before \n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    (repository / "changed").write_text("after\n")
    (repository / "deleted").unlink()
    (repository / "new").write_text("new")


def ask(servers: Servers, who: str, method: str, path: str, **more: Any) -> tuple[int, Any]:
    """Status and JSON, with this server's own directory written as DIR and its own ids as their type."""
    client, work = servers[who]
    written = json.loads(json.dumps(more).replace("DIR", str(work)))
    if "files" in more:
        written["files"] = {name: ("name", content.encode()) for name, content in more["files"].items()}
    answer = client.request(method, path.replace("DIR", str(work)), **written)
    return answer.status_code, told(answer.json(), str(work))


def told(value: Any, work: str) -> Any:
    if isinstance(value, list):
        return [told(item, work) for item in value]
    if isinstance(value, str):
        return value.replace(work, "DIR")
    if not isinstance(value, dict):
        return value
    if set(value) >= {"type", "loc", "msg"}:  # a problem of validation: the words after these are the library's
        return {"type": value["type"], "loc": value["loc"][:2]}
    return {key: type(item).__name__ if key in _OF_ITS_OWN else told(item, work) for key, item in value.items()}


EXECUTE, START, SEARCH = (
    "/api/bash/execute_bash_command",
    "/api/bash/start_bash_command",
    "/api/bash/bash_events/search",
)
UPLOAD, DOWNLOAD, MAKE = "/api/file/upload", "/api/file/download", "/api/file/create_directory"
CHANGES, DIFF = "/api/git/changes", "/api/git/diff"

SAME = [
    ("GET", "/alive", {}),
    ("GET", "/health", {}),
    ("GET", "/ready", {}),
    ("POST", "/alive", {}),
    ("GET", "/nope", {}),
    ("GET", "/api/nope", {}),
    ("POST", EXECUTE, {"json": {"command": "echo out; echo err >&2; exit 3"}}),
    ("POST", EXECUTE, {"json": {"command": "true"}}),
    ("POST", EXECUTE, {"json": {"command": "pwd", "cwd": "DIR/dir", "timeout": 5}}),
    ("POST", EXECUTE, {"json": {"command": "pwd", "cwd": "DIR/none"}}),
    ("POST", EXECUTE, {"json": {"command": "kill -9 $$"}}),
    ("POST", EXECUTE, {"json": {"command": "printf '\\377'"}}),
    ("POST", EXECUTE, {"json": {"command": "a\0b"}}),
    ("POST", EXECUTE, {"json": {"command": "echo $AI_AGENT $OH_SESSION_API_KEYS_0 $SESSION_API_KEY"}}),
    ("POST", EXECUTE, {"json": {"command": "true", "timeout": "5"}}),
    ("POST", EXECUTE, {"json": {}}),
    ("POST", EXECUTE, {"json": []}),
    ("POST", EXECUTE, {"json": {"command": 1}}),
    ("POST", EXECUTE, {"json": {"command": "true", "cwd": 1}}),
    ("POST", EXECUTE, {"json": {"command": "true", "timeout": "x"}}),
    ("POST", EXECUTE, {"json": {"command": "true", "timeout": None}}),
    ("POST", EXECUTE, {}),
    ("GET", EXECUTE, {}),
    ("POST", START, {"json": {"command": "true"}}),
    ("POST", START, {"json": {"command": "true", "cwd": "DIR", "timeout": 7}}),
    ("GET", SEARCH, {"params": {"command_id__eq": "0" * 32}}),
    ("GET", SEARCH, {"params": {"command_id__eq": "00000000-0000-0000-0000-000000000000", "order__gt": "1"}}),
    ("GET", SEARCH, {"params": {"timestamp__gte": "2999-01-01T00:00:00Z"}}),
    ("GET", SEARCH, {"params": {"limit": "0"}}),
    ("GET", SEARCH, {"params": {"limit": "101"}}),
    ("GET", SEARCH, {"params": {"kind__eq": "X", "command_id__eq": "0" * 32}}),
    ("GET", SEARCH, {"params": {"sort_order": "UP"}}),
    ("GET", SEARCH, {"params": {"order__gt": "x"}}),
    ("GET", "/api/bash/bash_events/none", {}),
    ("POST", f"/api/bash/bash_commands/{'0' * 32}/stop", {}),
    ("POST", UPLOAD, {"params": {"path": "DIR/up"}, "files": {"file": "content"}}),
    ("POST", UPLOAD, {"params": {"path": "DIR/deep/up"}, "files": {"file": "", "other": "x"}}),
    ("POST", UPLOAD, {"params": {"path": "relative"}, "files": {"file": "content"}}),
    ("POST", UPLOAD, {"params": {"path": "DIR/dir"}, "files": {"file": "content"}}),
    ("POST", UPLOAD, {"params": {"path": "DIR/file/x"}, "files": {"file": "content"}}),
    ("POST", UPLOAD, {"params": {"path": "DIR/up"}, "files": {"other": "content"}}),
    ("POST", UPLOAD, {"files": {"file": "content"}}),
    ("POST", UPLOAD, {"params": {"path": "DIR/up"}, "json": {"file": "content"}}),
    ("POST", UPLOAD, {"params": {"path": "DIR/up"}, "content": "content"}),
    ("POST", UPLOAD, {"params": {"path": "DIR/up"}}),
    ("POST", UPLOAD, {"params": {"path": "DIR/up"}, "headers": {"content-type": "multipart/form-data; boundary=b"}}),
    ("GET", DOWNLOAD, {"params": {"path": "relative"}}),
    ("GET", DOWNLOAD, {"params": {"path": "DIR/none"}}),
    ("GET", DOWNLOAD, {"params": {"path": "DIR/dir"}}),
    ("GET", DOWNLOAD, {}),
    ("POST", MAKE, {"params": {"path": "DIR/a/b"}}),
    ("POST", MAKE, {"params": {"path": "DIR/a/b"}}),
    ("POST", MAKE, {"params": {"path": "DIR/file"}}),
    ("POST", MAKE, {"params": {"path": "relative"}}),
    ("GET", CHANGES, {"params": {"path": "DIR/repository"}}),
    ("GET", CHANGES, {"params": {"path": "DIR/repository", "ref": "HEAD"}}),
    ("GET", CHANGES, {"params": {"path": "DIR"}}),
    ("GET", CHANGES, {"params": {"path": "DIR/dir"}}),
    ("GET", CHANGES, {"params": {"path": "DIR/none"}}),
    ("GET", CHANGES, {}),
    ("GET", DIFF, {"params": {"path": "DIR/repository/changed"}}),
    ("GET", DIFF, {"params": {"path": "DIR/repository/deleted"}}),
    ("GET", DIFF, {"params": {"path": "DIR/repository/new"}}),
    ("GET", DIFF, {"params": {"path": "DIR/repository/none"}}),
    ("GET", DIFF, {"params": {"path": "DIR/file"}}),
]


@pytest.mark.parametrize(("method", "path", "more"), SAME, ids=[f"{n} {p}" for n, (_, p, _) in enumerate(SAME)])
def test_the_same_answer(servers: Servers, method: str, path: str, more: dict[str, Any]) -> None:
    assert ask(servers, "ours", method, path, **more) == ask(servers, "real", method, path, **more)


LONG = f"sleep 600.{os.getpid()}"  # a name of its own: it is ended by its name, and others sleep here too
DIFFERENT = [
    (
        "what is left in the background holds nobody up; the real server waits for it, and at the time-out ends it",
        ("POST", EXECUTE, {"json": {"command": f"echo up; {LONG} & exit 4", "timeout": 1}}),
        {"exit_code": (-1, 4)},
    ),
    (
        "a time-out is told in the words by which clients know one",
        ("POST", EXECUTE, {"json": {"command": LONG, "timeout": 1}}),
        {"stderr": (None, "Command timed out after 1 seconds")},
    ),
    (
        "what the system does not take is told of the shell that was to take it",
        ("POST", EXECUTE, {"json": {"command": "x" * 200_000}}),
        {
            "stderr": tuple(
                f"Error executing command: [Errno 7] Argument list too long: '/bin/{it}'" for it in ("sh", "bash")
            )
        },
    ),
    (
        "commands run in bash wherever there is one (RUN006)",
        ("POST", EXECUTE, {"json": {"command": "echo ${BASH_VERSION:+bash}"}}),
        {"stdout": ("\n", "bash\n")},
    ),
]


@pytest.mark.parametrize(("why", "request_", "fields"), DIFFERENT, ids=[why for why, _, _ in DIFFERENT])
def test_commands_that_end_in_another_way(
    servers: Servers, why: str, request_: tuple[str, str, dict[str, Any]], fields: dict[str, tuple[object, object]]
) -> None:
    method, path, more = request_
    real, ours = (ask(servers, who, method, path, **more) for who in ("real", "ours"))
    assert real[0] == ours[0] == 200
    differing = {key: (real[1][key], ours[1][key]) for key in real[1] if real[1][key] != ours[1][key]}
    assert differing == fields
    subprocess.run(["pkill", "-f", "-x", LONG], check=False)


REFUSED = [
    ("paths that climb are refused", ("POST", UPLOAD, {"params": {"path": "DIR/dir/../up"}, "files": {"file": "x"}}), 200, 400),
    ("as above", ("POST", MAKE, {"params": {"path": "DIR/dir/../up2"}}), 200, 400),
    ("a device is no file", ("POST", UPLOAD, {"params": {"path": "/dev/null"}, "files": {"file": "x"}}), 200, 400),
    ("older clients' file routes are served too (RUN009)", ("POST", f"{UPLOAD}/DIR/old", {"files": {"file": "x"}}), 404, 200),
    ("older clients' git routes are served too", ("GET", f"{CHANGES}/DIR/repository", {}), 404, 200),
    ("diffs of one commit are not offered", ("GET", DIFF, {"params": {"path": "DIR/file", "commit": "abcd"}}), 200, 501),
    ("a body that is no JSON is the client's fault", ("POST", EXECUTE, {"content": "{", "headers": {"connection": "close"}}), 500, 422),
    ("events are not handed out in batches", ("GET", "/api/bash/bash_events/", {}), 422, 501),
]  # fmt: skip


@pytest.mark.parametrize(("why", "request_", "real", "ours"), REFUSED)
def test_what_only_one_of_them_does(
    servers: Servers, why: str, request_: tuple[str, str, dict[str, Any]], real: int, ours: int
) -> None:
    method, path, more = request_
    assert ask(servers, "real", method, path, **more)[0] == real
    assert ask(servers, "ours", method, path, **more)[0] == ours


def test_server_info_is_the_same_but_for_one_field_of_our_own(servers: Servers) -> None:
    real, ours = (servers[who][0].get("/server_info").json() for who in ("real", "ours"))
    assert set(ours) - set(real) == {"sandboxd_version"}
    assert set(real) - set(ours) == set()
    assert {key: type(real[key]) for key in real} == {key: type(ours[key]) for key in real}
    assert ours["version"] == real["version"]


def test_without_a_key_both_say_the_same(servers: Servers) -> None:
    for method, path, more in SAME[3:]:
        answers = [
            servers[who][0].request(method, path, headers={"X-Session-API-Key": "wrong"}).status_code for who in servers
        ]
        assert answers[0] == answers[1], (method, path, more)


def test_a_file_comes_down_in_the_same_way(servers: Servers) -> None:
    answers = [client.get(DOWNLOAD, params={"path": f"{work}/file"}) for client, work in servers.values()]
    kept = ("content-type", "content-disposition", "content-length")
    assert answers[0].content == answers[1].content
    assert [answers[0].headers[name] for name in kept] == [answers[1].headers[name] for name in kept]


def test_events_are_searched_in_the_same_way(servers: Servers) -> None:
    pages: dict[str, list[Any]] = {}
    for who, (client, work) in servers.items():
        client.delete("/api/bash/bash_events")
        for number in range(3):
            client.post(EXECUTE, json={"command": f"echo {number}"})
        asked: list[dict[str, str]] = [
            {},
            {"kind__eq": "BashOutput"},
            {"kind__eq": "BashCommand", "sort_order": "TIMESTAMP_DESC"},
            {"limit": "2"},
            {"order__gt": "0"},
            {"kind__eq": "BashOutput", "order__gt": "-1", "limit": "1"},
        ]
        found = [client.get(SEARCH, params=params).json() for params in asked]
        pages[who] = [told(page, str(work)) for page in found]
        following = {"limit": "2", "page_id": found[3]["next_page_id"]}
        pages[who].append(told(client.get(SEARCH, params=following).json(), str(work)))
        pages[who].append(client.delete("/api/bash/bash_events").json())
    assert pages["ours"] == pages["real"]
