"""GET through the seam: what it says, when it ends, and that no key is told."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from skyrl_doctor.machine.codec import decode, encode
from skyrl_doctor.machine.http_query import Fetched, Get
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine, Recorder

KEY = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"status":"ok"}'


@contextmanager
def server(answer: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    """Speaks to one client after another, until the test ends."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return
                with client, suppress(OSError):
                    answer(client, client.recv(65536))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def test_says_status_header_names_and_body() -> None:
    with server(lambda client, _: client.sendall(OK)) as url:
        found = LocalMachine({}).get(f"{url}/health", limit_s=60)
    assert found == Fetched(
        url=f"{url}/health", status=200, headers=("content-length", "content-type"), body='{"status":"ok"}'
    )


@pytest.mark.parametrize("source", ["file", "env"])
def test_sends_the_key_and_tells_nobody(tmp_path: Path, source: str) -> None:
    seen: list[bytes] = []
    (tmp_path / "key").write_text(f"{KEY}\n")
    key_from = f"file {tmp_path}/key" if source == "file" else "env RUNTIME_API_KEY"

    def echo(client: socket.socket, request: bytes) -> None:
        seen.append(request)
        client.sendall(b"HTTP/1.1 404 Not Found\r\n\r\n")

    with server(echo) as url:
        recorder = Recorder(LocalMachine({"RUNTIME_API_KEY": KEY}))
        found = recorder.get(f"{url}/sessions/x", limit_s=60, key_header="X-API-Key", key_from=key_from)
        recorder.write(str(tmp_path / "bundle"), about={})
    assert f"X-API-Key: {KEY}".encode() in seen[0]
    assert found.status == 404
    assert KEY not in (tmp_path / "bundle" / "machine.json").read_text()
    replayed = RecordedMachine.load(str(tmp_path / "bundle"), strict=True)
    assert replayed.get(f"{url}/sessions/x", limit_s=60, key_header="X-API-Key", key_from=key_from) == found


def test_a_key_that_is_none_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("two\nlines\n")
    asked = LocalMachine({"EMPTY": ""})
    whys = {
        source: asked.get("http://127.0.0.1:1/", limit_s=1, key_header="X-API-Key", key_from=source).why
        for source in (f"file {tmp_path}/key", f"file {tmp_path}/none", "env EMPTY")
    }
    assert whys == {
        f"file {tmp_path}/key": f"{tmp_path}/key holds no key; wanted one line of printable characters",
        f"file {tmp_path}/none": f"the key file {tmp_path}/none cannot be read: No such file or directory",
        "env EMPTY": "EMPTY holds no key; wanted one line of printable characters",
    }


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("node07:8000", "is no URL: wanted http://HOST:PORT"),
        ("http://", "is no URL: wanted http://HOST:PORT"),
        ("http://node:port/", "is no URL: Port could not be cast to integer value as 'port'"),
        ("file:///etc/passwd", "is no URL: wanted http://HOST:PORT"),
        ("http://127.0.0.1:1/", "Connection refused"),
        ("http://127.0.0.1:1/a b", "what answers there does not speak HTTP (InvalidURL)"),
    ],
)
def test_no_answer_is_an_answer(url: str, why: str) -> None:
    assert LocalMachine({}).get(url, limit_s=1).why in (why, "Connection refused")


def test_what_does_not_speak_http_is_told() -> None:
    with server(lambda client, _: client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")) as url:
        found = LocalMachine({}).get(url, limit_s=60)
    assert found == Fetched(url=url, why="what answers there does not speak HTTP (BadStatusLine)")


@pytest.mark.parametrize("kind", ["silent", "drips"])
def test_ends_in_time(kind: str) -> None:
    over = threading.Event()

    def slow(client: socket.socket, _: bytes) -> None:
        client.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while kind == "drips" and not over.wait(0.02):
            client.sendall(b"x")
        over.wait(600)

    began = time.monotonic()
    with server(slow) as url:
        found = LocalMachine({}).get(url, limit_s=0.2)
        over.set()
    assert found == Fetched(url=url, why="no answer within 0.2 s")
    assert time.monotonic() - began < 300


def test_a_large_body_is_cut() -> None:
    with server(lambda client, _: client.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (1 << 20))) as url:
        found = LocalMachine({}).get(url, limit_s=60)
    assert (len(found.body), found.truncated) == (1 << 18, True)


def test_the_codec_keeps_it_whole() -> None:
    query = Get(url="http://n:1/", limit_s=1)
    for answer in (Fetched(url="http://n:1/", status=200, headers=("a",), body="x\ny"), Fetched(url="u", why="no")):
        assert decode(query, encode(query, answer)) == answer
