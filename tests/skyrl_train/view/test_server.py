"""The viewer's server: who may ask, what it answers, and that no text of a rollout becomes markup."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from job_samples import ATTACK, transcript, write_rollouts
from skyrl_train.agent.journal import append
from skyrl_train.cli.app import dispatch
from skyrl_train.view.index import Index
from skyrl_train.view.server import HEADERS, MOST_STRANGERS, STATIC, Viewer


@pytest.fixture
def viewer(tmp_path: Path) -> Iterator[Viewer]:
    write_rollouts(tmp_path / "rollouts", steps=3, prompts=2, samples=4)
    append(tmp_path / "rollouts" / "step_4.jsonl", transcript("long", output=f"{ATTACK}{'z' * (1 << 20)}", turns=2))
    index = Index(str(tmp_path), str(tmp_path / "cache"))
    list(index.update())
    made = Viewer(index, title="job", token="token")
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.stop()


def get(viewer: Viewer, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.server_port, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


def ask(viewer: Viewer, question: str, **words: object) -> dict[str, object]:
    status, body, _ = get(viewer, f"/token/api/{question}?{urlencode(words)}")
    data: dict[str, object] = json.loads(body)
    assert status == 200, data
    return data


@pytest.mark.parametrize("path", ["/", "/token", "/tokem/", "/token2/api/state", "/t%C3%BF/", "/api/state"])
def test_without_the_token_there_is_nothing(viewer: Viewer, path: str) -> None:
    status, body, _ = get(viewer, path)
    assert (status, body) == (404, b"Not Found\n")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_name_is_refused(viewer: Viewer, host: str) -> None:
    assert get(viewer, "/token/api/state", Host=host)[0] == 421


def test_only_loopback_listens(viewer: Viewer) -> None:
    assert viewer.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(viewer: Viewer, method: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.server_port, timeout=20)
    connection.request(method, "/token/")
    assert connection.getresponse().status == 501
    connection.close()


@pytest.mark.parametrize("path", ["/token/", "/token/view.js", "/token/api/state", "/token/api/none", "/other/"])
def test_each_answer_has_the_headers(viewer: Viewer, path: str) -> None:
    _, _, headers = get(viewer, path)
    assert {name: headers.get(name) for name in HEADERS} == HEADERS


@pytest.mark.parametrize("path", ["../server.py", "static/../server.py", "%2e%2e/server.py", "/etc/passwd", "view.py"])
def test_no_other_file_is_served(viewer: Viewer, path: str) -> None:
    assert get(viewer, f"/token/{path}")[0] == 404


def test_the_page_asks_only_its_own_server(viewer: Viewer) -> None:
    texts = [get(viewer, f"/token/{name}")[1].decode() for name in STATIC]
    assert [
        text for text in texts if "http://" in text.replace("http://www.w3.org/2000/svg", "") or "https://" in text
    ] == []


@pytest.mark.parametrize(
    "sink", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "setTimeout('"]
)
def test_the_script_makes_no_markup_of_text(viewer: Viewer, sink: str) -> None:
    assert sink not in get(viewer, "/token/view.js")[1].decode()


def test_the_filters(viewer: Viewer) -> None:
    assert ask(viewer, "rollouts")["count"] == 25
    assert ask(viewer, "rollouts", step=2)["count"] == 8
    failed = ask(viewer, "rollouts", failed=1)["rows"]
    assert isinstance(failed, list)
    assert [one for one in failed if not (one["masked"] or one["reward"] is None or one["reward"] < 1)] == []
    assert ask(viewer, "rollouts", step=2, text="window.owned")["searched"] == 8
    assert ask(viewer, "rollouts", text="no such text")["rows"] == []


def test_a_text_with_quotes_and_lines_is_found(viewer: Viewer, tmp_path: Path) -> None:
    append(tmp_path / "rollouts" / "step_5.jsonl", transcript("quoted", text='a "b"\n\tc\\d é'))
    list(viewer.index.update())
    rows = ask(viewer, "rollouts", step=5, text='"b"\n\tc\\d é')["rows"]
    assert isinstance(rows, list)
    assert [one["rollout"] for one in rows] == ["quoted"]


def test_a_text_is_not_found_among_tokens(viewer: Viewer) -> None:
    assert ask(viewer, "rollouts", step=3, text="token_ids")["rows"] == []


def test_a_rollout_has_turns_with_masks_and_results(viewer: Viewer) -> None:
    whole = ask(viewer, "rollout", name="long")
    turns = whole["turns"]
    assert isinstance(turns, list)
    assert [(turn["trained"], turn["read"]) for turn in turns] == [(40, 12), (41, 0)]
    assert turns[0]["call"]["name"] == "execute_bash"
    assert turns[0]["result"]["exit_code"] == 0


def test_a_huge_result_comes_in_pieces_and_controls_nothing(viewer: Viewer) -> None:
    status, body, _ = get(viewer, "/token/api/rollout?name=long")
    assert status == 200
    assert len(body) < 100_000
    result = json.loads(body)["turns"][0]["result"]
    assert [char for char in "\x1b\u202e\x00\x9b" if char in result["text"]] == []
    assert "<script>window.owned" in result["text"]
    letters, start = len(result["text"]), result["next"]
    while start is not None:
        piece = ask(viewer, "part", name="long", turn=0, what="result", start=start)
        letters += len(str(piece["text"]))
        start = piece["next"]
    assert letters >= 1 << 20


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("rollout?name=none", 404),
        ("part?name=long&turn=99&what=result&start=0", 404),
        ("part?name=long&turn=0&what=other&start=0", 404),
        ("rollouts?step=x", 400),
        ("rollouts?least=x", 400),
        ("rollouts?before=-1", 400),
        ("none", 404),
    ],
)
def test_bad_questions_are_refused(viewer: Viewer, question: str, status: int) -> None:
    got, body, _ = get(viewer, f"/token/api/{question}")
    assert got == status
    assert json.loads(body)["error"]


def test_a_removed_file_is_named(viewer: Viewer, tmp_path: Path) -> None:
    (tmp_path / "rollouts" / "step_4.jsonl").unlink()
    status, body, _ = get(viewer, "/token/api/rollout?name=long")
    assert (status, "step_4.jsonl" in json.loads(body)["error"]) == (404, True)


def test_connections_that_never_name_the_token_keep_nobody_out(viewer: Viewer) -> None:
    """Any user of the machine can open them. The oldest are closed; one that named the token is kept."""
    kept = http.client.HTTPConnection("127.0.0.1", viewer.server_port, timeout=5)
    kept.request("GET", "/token/api/steps")
    assert kept.getresponse().read()
    idle = [socket.create_connection(("127.0.0.1", viewer.server_port), timeout=5) for _ in range(200)]
    try:
        idle[-1].sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        for asking in (http.client.HTTPConnection("127.0.0.1", viewer.server_port, timeout=5), kept):
            asking.request("GET", "/token/api/steps")
            assert asking.getresponse().status == 200
            asking.close()
        assert idle[0].recv(1) == b""
        assert len(viewer.strangers) <= MOST_STRANGERS
    finally:
        for connection in idle:
            connection.close()


@pytest.mark.parametrize(("name", "found"), [("rollouts/step_1.jsonl", True), ("rollouts.jsonl", False)])
def test_a_job_without_transcripts_is_said_to_have_none(
    name: str, found: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "job" / name
    path.parent.mkdir(parents=True)
    append(path, transcript())
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that the command ends
        assert dispatch(["view", str(tmp_path / "job"), "--port", str(taken.getsockname()[1])]) == 2
    sentence = "no transcripts found; expected files named step_N.jsonl"
    assert (sentence in capsys.readouterr().out) == (not found)
