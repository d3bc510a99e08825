"""Keys, routes and malformed requests: what is refused, and that the next request is answered all the same."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandboxd_process import KEY, Sandboxd, running
from skyrl_train.sandbox.sandboxd.bundle import write_zipapp

OPEN = [
    ("/alive", {"status": "ok"}),
    ("/health", {"status": "ok"}),
    ("/ready", {"status": "ready"}),
]
SERVER_INFO = {
    "uptime", "idle_time", "title", "version", "sdk_version", "tools_version", "workspace_version", "build_git_sha",
    "build_git_ref", "python_version", "usable_tools", "runtime_idle_timeout_seconds", "conversation_runtime",
    "available_conversation_runtimes", "capabilities", "app_backend_ingress_url",
    "max_foreground_terminal_timeout_seconds", "docs", "redoc", "sandboxd_version",
}  # fmt: skip


def raw(sandboxd: Sandboxd, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", sandboxd.port), timeout=120) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(("path", "wanted"), OPEN)
def test_its_state_is_told_to_everybody(sandboxd: Sandboxd, path: str, wanted: dict[str, str]) -> None:
    answer = sandboxd.stranger.get(path)
    assert (answer.status_code, answer.json()) == (200, wanted)


def test_server_info_has_the_real_servers_fields(sandboxd: Sandboxd) -> None:
    info = sandboxd.stranger.get("/server_info").json()
    assert set(info) == SERVER_INFO
    assert (info["title"], info["version"]) == ("sandboxd", "1.58.0")
    assert sandboxd.stranger.get("/").json().keys() == info.keys()


@pytest.mark.parametrize("key", [None, "", "wrong", KEY + "x", KEY[:-1], KEY.upper(), "é"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/bash/execute_bash_command"),
        ("POST", "/api/bash/start_bash_command"),
        ("GET", "/api/bash/bash_events/search"),
        ("DELETE", "/api/bash/bash_events"),
        ("GET", "/api/file/download?path=/etc/passwd"),
        ("GET", "/api/file/download//etc/passwd"),
        ("POST", "/api/file/upload?path=/tmp/x"),
        ("GET", "/api/git/changes?path=/"),
    ],
)
def test_without_the_key_nothing_is_done(sandboxd: Sandboxd, method: str, path: str, key: str | None) -> None:
    headers = {} if key is None else {"X-Session-API-Key": key.encode()}
    answer = sandboxd.stranger.request(method, path, headers=headers, content=b'{"command": "touch /tmp/never"}')  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()) == (401, {"detail": "Unauthorized"})
    until = time.monotonic() + 120  # its line comes through a pipe, after the answer
    while not any(" 401 for " in line and method in line for line in list(sandboxd.log)):
        assert time.monotonic() < until, sandboxd.log


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("GET", "/api/nope", 404),
        ("GET", "/api/bash/execute_bash_command", 405),
        ("PUT", "/api/file/upload?path=/x", 405),
        ("POST", "/alive", 405),
        ("POST", "/api/bash/bash_commands/x/stop", 422),
        ("POST", "/api/bash/bash_commands/x/halt", 404),
        ("GET", "/api/bash/bash_events/", 501),
        ("GET", "/api/bash/bash_events/none", 404),
        ("GET", "/api/git/diff?path=/x&commit=abcd", 501),
        ("GET", "/api/file/download", 422),
        ("GET", "/api/bash/bash_events/search?limit=0", 422),
        ("GET", "/api/bash/bash_events/search?limit=101", 422),
        ("GET", "/api/bash/bash_events/search?limit=x", 422),
        ("GET", "/api/bash/bash_events/search?kind__eq=X", 422),
        ("GET", "/api/bash/bash_events/search?command_id__eq=1", 422),
        ("GET", "/api/bash/bash_events/search?sort_order=UP", 422),
        ("GET", "/api/bash/bash_events/search?timestamp__gte=noon", 422),
        ("GET", "/api/bash/bash_events/search?timestamp__lt=0001-01-01T00:00:00%2B14:00", 422),
    ],
)
def test_what_is_not_offered_is_said_in_json(sandboxd: Sandboxd, method: str, path: str, status: int) -> None:
    answer = sandboxd.client.request(method, path)
    assert (answer.status_code, list(answer.json())) == (status, ["detail"])


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"", ["body"]),
        (b"{", ["body", "0"]),
        (b"\xff", ["body", "0"]),
        (b"[" * 100_000, ["body", "0"]),
        (b"[]", ["body"]),
        (b"null", ["body"]),
        (b"{}", ["body", "command"]),
        (b'{"command": null}', ["body", "command"]),
        (b'{"command": ["ls"]}', ["body", "command"]),
        (b'{"command": "\\ud800"}', ["body", "command"]),
        (b'{"command": "ls", "cwd": 1}', ["body", "cwd"]),
        (b'{"command": "ls", "timeout": "soon"}', ["body", "timeout"]),
        (b'{"command": "ls", "timeout": 1.5}', ["body", "timeout"]),
        (b'{"command": "ls", "timeout": null}', ["body", "timeout"]),
        (b'{"command": "ls", "timeout": 1e999}', ["body", "timeout"]),
        (b'{"command": "ls", "timeout": NaN}', ["body", "timeout"]),
    ],
)
def test_bodies_that_are_no_command_are_refused(sandboxd: Sandboxd, body: bytes, place: list[str]) -> None:
    for route in ("execute", "start"):
        answer = sandboxd.client.post(f"/api/bash/{route}_bash_command", content=body)
        (problem,) = answer.json()["detail"]
        assert (answer.status_code, problem["loc"]) == (422, place)
        assert set(problem) == {"type", "loc", "msg", "input"}


@pytest.mark.parametrize("timeout", [5, "5", 5.0, True, 10**19])
def test_time_outs_are_read_as_the_real_server_reads_them(sandboxd: Sandboxd, timeout: object) -> None:
    assert sandboxd.execute("echo in time", timeout=timeout)["stdout"] == "in time\n"


def test_an_oversized_body_is_refused_before_it_is_taken(sandboxd: Sandboxd) -> None:
    answer = sandboxd.client.post("/api/bash/execute_bash_command", content=b'{"command": "' + b"x" * 5_000_000 + b'"}')
    assert answer.status_code == 413


def test_a_refusal_waits_for_a_client_that_is_still_sending(sandboxd: Sandboxd) -> None:
    """A connection that is closed on bytes nobody has read is reset, and on its way the answer is lost with it."""
    head = b"POST /api/file/upload?path=/tmp/never HTTP/1.1\r\ncontent-length: 30000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", sandboxd.port), timeout=120) as connection:
        connection.sendall(head + bytes(100_000))
        assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")
        for _ in range(20):
            connection.sendall(bytes(1_000_000))


KEYED = b"X-Session-API-Key: " + KEY.encode() + b"\r\n"
EXECUTE = b"POST /api/bash/execute_bash_command HTTP/1.1\r\n" + KEYED


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\r\n\r\n", b"400"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET /alive HTTP/2.0\r\n\r\n", b"505"),
        (b"GET alive HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /alive HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (b"GET /alive HTTP/1.1\r\n folded: x\r\n\r\n", b"400"),
        (b"GET /alive HTTP/1.1\r\nx: " + b"a" * 70_000 + b"\r\n\r\n", b"431"),
        (EXECUTE + b"content-length: -1\r\n\r\n", b"400"),
        (EXECUTE + b"content-length: 1_0\r\n\r\n", b"400"),
        (EXECUTE + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}", b"400"),
        (EXECUTE + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}", b"400"),
        (EXECUTE + b"transfer-encoding: gzip\r\n\r\n", b"400"),
        (EXECUTE + b"transfer-encoding: chunked\r\n\r\n-5\r\n", b"400"),
        (EXECUTE + b"transfer-encoding: chunked\r\n\r\n+5\r\nhello\r\n", b"400"),
        (EXECUTE + b"transfer-encoding: chunked\r\n\r\n2\r\n{}garbage\r\n", b"400"),
        (b"GET /alive HTTP/1.0\r\n\r\n", b"200"),
        (EXECUTE + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", b"422"),
        (EXECUTE + b"expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}", b"100"),
    ],
)
def test_malformed_requests_are_answered_and_forgotten(sandboxd: Sandboxd, sent: bytes, status: bytes) -> None:
    assert raw(sandboxd, sent).split(b" ")[1:2] == [status]
    assert sandboxd.stranger.get("/alive").status_code == 200


PIECES = st.sampled_from(
    [b"GET ", b"POST ", b"/api/bash/execute_bash_command", b"/api/file/upload?path=%2ftmp", b" HTTP/1.1", b"\r\n", b"\r\n\r\n",
     b"content-length: 5", b"transfer-encoding: chunked", b"expect: 100-continue", KEYED, b"5\r\nhello\r\n", b"0\r\n\r\n", b"%", b"?"]
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES | st.binary(max_size=30), max_size=12).map(b"".join))
def test_whatever_is_sent_the_next_client_is_served(sandboxd: Sandboxd, sent: bytes) -> None:
    answers = raw(sandboxd, sent)
    assert answers == b"" or answers.startswith(b"HTTP/1.1 ")
    assert b" 500 " not in answers.split(b"\r\n")[0]
    assert sandboxd.stranger.get("/alive").status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET /al", EXECUTE + b"content-length: 10\r\n\r\n{", b"\0" * 100])
def test_a_client_that_goes_away_midway_harms_nobody(sandboxd: Sandboxd, sent: bytes) -> None:
    assert b" 200 " not in raw(sandboxd, sent)
    assert sandboxd.stranger.get("/alive").status_code == 200


def test_requests_follow_each_other_on_one_connection(sandboxd: Sandboxd) -> None:
    body = b'{"command": "echo one"}'
    one = EXECUTE + b"content-length: %d\r\n\r\n" % len(body) + body
    answers = raw(sandboxd, one + b"GET /nope HTTP/1.1\r\n\r\n" + one + b"GET /alive HTTP/1.1\r\n\r\n")
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"404", b"200", b"200"]


def test_log_lines_are_one_line_whatever_is_in_them(sandboxd: Sandboxd) -> None:
    sandboxd.client.get("/a%0asandboxd:%20forged%1b[31m")
    sandboxd.stranger.get("/alive")
    assert not any(line.startswith("sandboxd: forged") or "\x1b" in line for line in sandboxd.log)


def test_many_idle_connections_keep_nobody_out(fresh: Sandboxd) -> None:
    idle = [socket.create_connection(("127.0.0.1", fresh.port)) for _ in range(300)]
    for connection in idle[::2]:
        connection.sendall(b"GET /alive HTTP/1.1\r\nHost:")
    assert fresh.execute("echo still here")["stdout"] == "still here\n"
    for connection in idle:
        connection.close()
    assert fresh.execute("echo and now")["stdout"] == "and now\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_asked(tmp_path: Path, number: int) -> None:
    with running(tmp_path) as sandboxd:
        assert sandboxd.end(number) == 0


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        (["--host", "0.0.0.0"], {}, "no session key: set OH_SESSION_API_KEYS_0, or use --host 127.0.0.1"),
        (["--host", "0.0.0.0"], {"OH_SESSION_API_KEYS_0": "", "SESSION_API_KEY": ""}, "no session key"),
        (["--port", "x"], {}, "--port needs a number up to 65535, found 'x'"),
        (["--port", "65536"], {}, "--port needs a number up to 65535"),
        (["--port"], {}, "--port needs a value"),
        (["--output-limit", "-1"], {}, "--output-limit needs a number"),
        (["--reload"], {}, "unknown argument '--reload'"),
        (["--host", "203.0.113.1", "--port=0"], {"SESSION_API_KEY": "k"}, "Cannot assign requested address"),
    ],
)
def test_what_it_cannot_do_it_says_at_once(
    tmp_path: Path, arguments: list[str], env: dict[str, str], said: str
) -> None:
    archive = write_zipapp(tmp_path)
    argv = [sys.executable, "-I", "-S", "-B", str(archive), *arguments]
    ran = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("sandboxd: ")
    assert said in ran.stderr
    assert "usage: sandboxd" in ran.stderr


def test_every_numbered_key_counts_and_an_empty_one_never(tmp_path: Path) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "OH_SESSION_API_KEYS_0": "",
        "OH_SESSION_API_KEYS_1": KEY,
        "SESSION_API_KEY": "v0",
    }
    with running(tmp_path, env=env) as sandboxd:
        assert sandboxd.client.get("/api/bash/bash_events/search").status_code == 200
        assert sandboxd.stranger.get("/api/bash/bash_events/search").status_code == 401
        other = sandboxd.stranger.get("/api/bash/bash_events/search", headers={"X-Session-API-Key": "v0"})
        assert other.status_code == 401


def test_limits_of_a_sandbox_are_no_affair_of_other_peoples_processes(tmp_path: Path) -> None:
    """Only the first process of a namespace may end all the others."""
    with running(tmp_path, "--processes", "1", "--memory-mib", "1") as sandboxd:
        assert sandboxd.execute("sleep 0.3 & sleep 0.3 & wait; echo alive")["stdout"] == "alive\n"
