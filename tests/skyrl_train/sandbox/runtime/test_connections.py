"""Raw bytes at the real HTTP side: answered or let go in time, told, and nothing is started."""

import json
import re
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from fakes.engine import IMAGE, FakeEngine
from fakes.runtime import KEY
from fakes.serving import http_server
from skyrl_train.sandbox.runtime.connections import HEAD_S as HEAD_LIMIT_S
from skyrl_train.sandbox.runtime.connections import MOST_UNKEYED

HEAD_S = 0.3
"""Of the impatient server: so short that a test of it ends."""
TRIES = 5
"""On a loaded machine even a client that means well may be too slow for that one."""
GOOD = json.dumps({"image": IMAGE, "session_id": "s1"})


class Wire:
    """A server in a thread over an engine in memory."""

    def __init__(self, url: str, engine: FakeEngine) -> None:
        self.url, self.engine = url, engine
        self.address = (urlsplit(url).hostname or "", urlsplit(url).port or 0)

    def send(self, *parts: bytes, wait_s: float = 0.0) -> bytes:
        """All that comes back until the server closes. Parts are sent apart; it may go away before the last."""
        with socket.create_connection(self.address, timeout=300) as connection:
            try:
                for part in parts:
                    connection.sendall(part)
                    time.sleep(wait_s)
            except OSError:
                pass
            return everything(connection)

    def refused(self) -> dict[str, int]:
        """How often each reason was given to a client without a key."""
        found = json.loads(self.send(request("GET /events HTTP/1.1")).partition(b"\r\n\r\n")[2])["without_key"]
        assert {entry["client"] for entry in found} <= {"127.0.0.1"}
        return {f"{entry['status']} {entry['why']}": entry["count"] for entry in found}

    def nothing_was_started(self) -> bool:
        return self.engine.standing == {} and not any(call.startswith("start") for call in self.engine.calls)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    engine = FakeEngine()
    with http_server(tmp_path_factory.mktemp("wire"), engine=engine) as url:
        yield Wire(url, engine)


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    engine = FakeEngine()
    with http_server(tmp_path_factory.mktemp("impatient"), engine=engine, head_s=HEAD_S) as url:
        yield Wire(url, engine)


def everything(connection: socket.socket) -> bytes:
    got = b""
    try:
        while data := connection.recv(65536):
            got += data
    except ConnectionResetError:
        pass
    return got


def request(
    line: str, *, body: str = "", key: str | None = KEY, more: str = "", length: int | str | None = None
) -> bytes:
    lines = [line, "Host: x", "Connection: close"]
    lines += [] if key is None else [f"X-API-Key: {key}"]
    lines += [f"Content-Length: {len(body) if length is None else length}"] if body or length is not None else []
    return ("\r\n".join(lines) + f"\r\n{more}\r\n" + body).encode("latin-1")


def status_of(answer: bytes) -> int:
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(match[1]) if match else 0


NO_REQUEST = {
    "nonsense": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "no version": (b"POST /start\r\n\r\n", 400),
    "a header without a colon": (request("POST /start HTTP/1.1", body=GOOD, more="nonsense\r\n"), 400),
    "a NUL in a header": (request("POST /start HTTP/1.1", body=GOOD, more="X-A: a\0b\r\n"), 400),
    "a NUL in the path": (request("GET /sessions/a\0b HTTP/1.1"), 400),
    "a line that is folded": (request("POST /start HTTP/1.1", body=GOOD, more=" X-A: b\r\n"), 400),
    "a length that is no number": (request("POST /start HTTP/1.1", body=GOOD, length="ten"), 400),
    "a length below zero": (request("POST /start HTTP/1.1", body=GOOD, length=-1), 400),
    "two lengths": (request("POST /start HTTP/1.1", body=GOOD, more="Content-Length: 3\r\n"), 400),
    "two hosts": (request("POST /start HTTP/1.1", body=GOOD, more="Host: y\r\n"), 400),
    "a coding that nobody knows": (request("POST /start HTTP/1.1", more="Transfer-Encoding: gzip, chunked\r\n"), 501),
    "a head that is too long": (request("GET /list HTTP/1.1", more=f"X-A: {'a' * 400_000}\r\n"), 431),
    "a line that is too long": (b"GET /" + b"a" * 400_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
    "too many headers": (request("GET /list HTTP/1.1", more="".join(f"X-{n}: y\r\n" for n in range(40_000))), 431),
    "chunks of nonsense": (
        request("POST /start HTTP/1.1", more="Transfer-Encoding: chunked\r\n") + b"zz\r\nwhat\r\n0\r\n\r\n",
        400,
    ),
    "a chunk longer than it says": (
        request("POST /start HTTP/1.1", more="Transfer-Encoding: chunked\r\n") + b"2\r\n{}{}{}\r\n0\r\n\r\n",
        400,
    ),
}


@pytest.mark.parametrize("what", NO_REQUEST)
def test_what_is_no_request_is_refused_and_told(wire: Wire, what: str) -> None:
    sent, wanted = NO_REQUEST[what]
    before = sum(wire.refused().values())
    answer = wire.send(sent)
    assert (status_of(answer), list(json.loads(answer.partition(b"\r\n\r\n")[2]))) == (wanted, ["detail"]), answer
    *_, last = refused = wire.refused()
    assert (sum(refused.values()), last.partition(" ")[0]) == (before + 1, str(wanted))
    assert wire.nothing_was_started()


SLOW = {
    "nothing at all": ((), 0),
    "half a head": ((b"POST /start HTTP/1.1\r\nHost: x\r\n",), 408),
    "a head that trickles": ((b"GET /list HTTP/1.1\r\n", *(b"X-%d: y\r\n" % number for number in range(200))), 408),
    "a body that nobody waits for": (
        (
            request("POST /start HTTP/1.1", key="wrong", length=1 << 40).replace(b"Connection: close\r\n", b""),
            *(b"x" for _ in range(200)),
        ),
        401,
    ),
}


@pytest.mark.parametrize("what", SLOW)
def test_who_does_not_go_on_is_let_go_in_time(impatient: Wire, what: str) -> None:
    """Each `send` ends only when the server has closed."""
    parts, wanted = SLOW[what]
    for _ in range(TRIES):
        answer = impatient.send(*parts, wait_s=0.02 if len(parts) > 2 else 0.0)
        if status_of(answer) == wanted:
            break
    assert status_of(answer) == wanted, answer
    assert impatient.nothing_was_started()


def test_a_body_shorter_than_it_says_starts_nothing(wire: Wire) -> None:
    with socket.create_connection(wire.address, timeout=300) as connection:
        connection.sendall(request("POST /start HTTP/1.1", body=GOOD, length=len(GOOD) + 10))
        connection.shutdown(socket.SHUT_WR)
        assert status_of(everything(connection)) in (0, 400)
    assert wire.nothing_was_started()


def test_what_follows_a_body_that_is_longer_than_it_says_is_no_request(wire: Wire) -> None:
    """One request does not hide in another."""
    hidden = request("GET /list HTTP/1.1").decode()
    line = (
        request("POST /stop HTTP/1.1", body='{"runtime_id": "skyrl-none"}')
        .decode()
        .replace("Connection: close\r\n", "")
    )
    answer = wire.send((line + "{}{}" + hidden).encode())
    assert [status_of(part) for part in re.split(rb"(?=HTTP/1\.1 )", answer)[1:]] == [404, 400]


OUTSIDE = (
    "/sessions/..%2f..%2fetc%2fpasswd",
    "/sessions/%2e%2e",
    "/sessions/%2e%2e/%2e%2e/list",
    "/sessions/../list",
    "/sessions/a%00b",
    "/sessions/%ff%fe",
    "/sessions/a%0d%0aX-Injected:%20yes",
    "/runtime/..%5c..%5cx",
    "/runtime/skyrl-%00",
    "//sessions/s1",
    "/sessions//s1",
    "/./list/.",
    "/LIST",
    "/list/",
    "/start%2f..%2flist",
    "/%6cist%00",
    "http://elsewhere/list",
    "*",
)


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_out_of_the_routes_leads_nowhere(wire: Wire, path: str) -> None:
    answer = wire.send(request(f"GET {path} HTTP/1.1"))
    assert status_of(answer) in (400, 404), answer
    assert b"x-injected: yes" not in answer.lower().partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize(
    "line", ["CONNECT x:80 HTTP/1.1", "OPTIONS * HTTP/1.1", "TRACE /list HTTP/1.1", "BREW /start HTTP/1.1"]
)
def test_an_odd_method_is_refused(wire: Wire, line: str) -> None:
    assert status_of(wire.send(request(line))) in (400, 404, 405)


def test_an_upgrade_is_no_way_past_the_key(wire: Wire) -> None:
    more = "Upgrade: websocket\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Version: 13\r\n"
    sent = request("GET /list HTTP/1.1", key=None, more=more).replace(
        b"Connection: close", b"Connection: upgrade, close"
    )
    assert status_of(wire.send(sent)) == 401


def test_nobody_says_who_he_is_in_a_header(wire: Wire) -> None:
    """A line of the log that names somebody else would be worse than none."""
    wire.send(request("GET /list HTTP/1.1", key="wrong", more="X-Forwarded-For: 10.1.2.3\r\n"))
    assert wire.refused()["401 wrong key in X-API-Key"]


def test_an_oversized_body_is_refused_while_it_comes(wire: Wire) -> None:
    answer = wire.send(request("POST /start HTTP/1.1", length=1 << 33), *(b"x" * 65536 for _ in range(40)))
    assert status_of(answer) == 413
    assert wire.nothing_was_started()


def test_others_are_served_beside_hundreds_who_say_nothing(impatient: Wire) -> None:
    idle = [socket.create_connection(impatient.address, timeout=300) for _ in range(200)]
    try:
        assert 200 in (status_of(impatient.send(request("GET /health HTTP/1.1", key=None))) for _ in range(TRIES))
        assert [everything(each) for each in idle] == [b""] * len(idle)
    finally:
        for each in idle:
            each.close()


def test_a_flood_without_the_key_takes_a_part_of_the_descriptors(wire: Wire) -> None:
    """Each connection may stay for 15 s, or 75 s after a request: the oldest ones without the key must go."""
    keyed = socket.create_connection(wire.address, timeout=300)
    once = request("GET /list HTTP/1.1").replace(b"Connection: close\r\n", b"")
    keyed.sendall(once)
    assert status_of(_answer(keyed)) == 200
    idle = [socket.create_connection(wire.address, timeout=300) for _ in range(MOST_UNKEYED + 50)]
    try:
        for each in idle[:50]:
            each.settimeout(HEAD_LIMIT_S / 2)
        assert [everything(each) for each in idle[:50]] == [b""] * 50
        keyed.sendall(once)
        assert status_of(_answer(keyed)) == 200
    finally:
        for each in (*idle, keyed):
            each.close()


def _answer(connection: socket.socket) -> bytes:
    """One answer of a connection that stays open."""
    got = b""
    while not got.endswith(b"]}"):
        got += connection.recv(65536)
    return got
