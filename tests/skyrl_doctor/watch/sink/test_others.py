"""The job's log, the webhook, health.prom."""

import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Location
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.match.signatures import load_signatures
from skyrl_doctor.watch.finding import alert
from skyrl_doctor.watch.follow.tail import Lines
from skyrl_doctor.watch.observations import Hit
from skyrl_doctor.watch.read.exposition import parse
from skyrl_doctor.watch.read.logs import Logs
from skyrl_doctor.watch.rules.progress import Progress
from skyrl_doctor.watch.sink.joblog import JobLog, line
from skyrl_doctor.watch.sink.prom import Health, render
from skyrl_doctor.watch.sink.webhook import Webhook

FOUND = alert(1.0, "CFG001", "too many\n tokens", root=True, location=Location("vllm.log", 3))


def test_one_line_that_is_no_evidence_itself() -> None:
    assert line(FOUND) == (
        "skyrl-doctor watch: CFG001 max-tokens-exceed-context (root cause) at vllm.log:3: too many tokens"
    )
    for entry in load_signatures():
        told = line(alert(1.0, entry.id or "CFG001", entry.signature.explain, root=True))
        found = Logs().take(Lines("training_1.out", 1, f"{told}\n".encode()), 1.0)
        assert [one for one in found if isinstance(one, Hit)] == []


def test_whoever_reads_the_job_s_log_later_takes_our_lines_for_no_error(tmp_path: Path) -> None:
    ours = (
        "RUN005 no-worker-slots (warning): all 7 slots are taken and 4 sandboxes wait; wanted a free one",
        "RUN010 runtime-fails-under-load (error): the runtime gives no answer (Connection refused); wanted 200",
        "sent SIGTERM to the process group 77, for CFG001: ValueError: 'max_tokens' is too large: 4000",
    )
    (tmp_path / "training_1.out").write_text(
        "".join(f"skyrl-doctor watch: {text}\n" for text in ours), encoding="utf-8"
    )
    found = diagnose([str(tmp_path)]).diagnosis
    assert (found.root, found.matches, found.unknown) == (None, (), None)


def test_without_being_asked_it_writes_into_its_own_log_only(tmp_path: Path) -> None:
    (tmp_path / "training_1.out").write_text("x\n", encoding="utf-8")
    assert JobLog(str(tmp_path)).add("a") == str(tmp_path / "watch.log")
    assert JobLog(str(tmp_path), "none").add("b") == ""
    assert (tmp_path / "training_1.out").read_text(encoding="utf-8") == "x\n"
    assert (tmp_path / "watch.log").read_text(encoding="utf-8") == "a\n"


def test_the_newest_training_log_gets_it_else_a_file_beside(tmp_path: Path) -> None:
    log = JobLog(str(tmp_path), "auto")
    assert log.add("a") == str(tmp_path / "watch.log")
    for age, name in ((10, "training_1.out"), (5, "training_2.out")):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    assert log.add("b") == str(tmp_path / "training_2.out")
    assert (tmp_path / "training_2.out").read_text(encoding="utf-8") == "x\nb\n"
    for refused in ("/dev/full", str(tmp_path / "absent" / "x"), "/dev/null"):
        assert JobLog(str(tmp_path), refused).add("c") == str(tmp_path / "watch.log")
    os.mkfifo(tmp_path / "pipe")
    assert JobLog(str(tmp_path), str(tmp_path / "pipe")).add("d") == str(tmp_path / "watch.log")
    assert (tmp_path / "watch.log").read_text(encoding="utf-8") == "a\nc\nc\nc\nd\n"


class Hook(http.server.BaseHTTPRequestHandler):
    got: ClassVar[list[tuple[str, object]]] = []
    answer = 200

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        Hook.got.append((self.path, json.loads(self.rfile.read(length))))
        self.send_response(Hook.answer)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def do_GET(self) -> None:
        Hook.got.append((f"GET {self.path}", None))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    Hook.got.clear()
    Hook.answer = 200
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_webhook_sends_without_secrets_and_counts_what_fails(url: str) -> None:
    hook = Webhook(url, lambda text: text.replace("s3cret", "<redacted>"))
    hook.send({"message": "token=s3cret"})
    hook.wait(120.0)
    assert (Hook.got, hook.sent, hook.failed) == ([("/hook", {"message": "token=<redacted>"})], 1, 0)
    Hook.answer = 302
    hook.send({})
    hook.wait(120.0)
    Hook.answer = 500
    hook.send({})
    hook.wait(120.0)
    assert ([path for path, _ in Hook.got], hook.sent, hook.failed) == (["/hook"] * 3, 1, 2)


def test_a_webhook_that_nobody_answers_only_counts() -> None:
    hook = Webhook("http://127.0.0.1:9/x", str)
    hook.send({})
    hook.wait(120.0)
    assert hook.failed == 1
    with pytest.raises(UsageError, match="--webhook: the address must begin"):
        Webhook("file:///etc/passwd", str)


def test_health_is_what_prometheus_reads() -> None:
    progress = Progress(at=5.0, step=3)
    health = Health(job="/j", at=9.0, open=(FOUND,), progress=progress, fills={'disk "x"': (3.0, 4.0)})
    found = {
        (one.name.removeprefix("skyrl_doctor_watch_"), one.labels.get("id") or one.labels.get("of")): one.value
        for one in parse(render(health))
    }
    assert found == {
        ("up", None): 1.0,
        ("last_tick_timestamp_seconds", None): 9.0,
        ("step", None): 3.0,
        ("last_progress_timestamp_seconds", None): 5.0,
        ("finding", "CFG001"): 1.0,
        ("fill_ratio", 'disk "x"'): 0.75,
        ("webhook_failures", None): 0.0,
        ("unwritten_events", None): 0.0,
    }
