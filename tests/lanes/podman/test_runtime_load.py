"""Many sandboxes through one server, beside bare Podman in the same run. `python -m benchmarks.runtime` runs the long form."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import IMAGE, SHORT_S, wait_until
from lanes.podman.runtime import SETTINGS, Server, start

pytestmark = pytest.mark.podman
SANDBOXES = int(os.environ.get("RUNTIME_SANDBOXES", "16"))
BARE = min(SANDBOXES, 48)
AT_ONCE = 8
EXECUTE = "/api/bash/execute_bash_command"
RATIO, GROWTH_MIB, SERVER_MIB, MORE_MS = 1.3, 30, 120, 5.0
AMISS = 8
"""How many times as long as bare Podman, or a local shell, says that something is wrong, however slow the machine."""
ROUND_TRIPS = 200
LOADED = "import os, skyrl_train.cli.runtime, skyrl_train.sandbox.runtime.serve as s; s.http_server(None, print).config.load(); "
RSS = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmRSS')))"
SHORT = SANDBOXES < 100
"""A few samples say little on a machine that others use at the same time: the short form looks at the median, for what is amiss."""


@pytest.fixture
def server(new_lab: NewLab, image_archive: Path) -> Iterator[Server]:
    lab = new_lab()
    server = Server(lab, settings=replace(SETTINGS, slots=AT_ONCE, reap_every_s=5.0)).stock(image_archive)
    yield server.up()
    server.close()
    lab.close()


def p95(times: list[float]) -> float:
    return sorted(times)[max(0, round(0.95 * len(times)) - 1)]


def many(count: int, work: Callable[[int], float]) -> list[float]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(work, range(count)))


def bare(server: Server) -> list[float]:
    """`podman run` and a command in it, as somebody would write it in a shell."""
    home = server.home()
    lab = replace(server.lab, env=dict(home.environ))

    def one(number: int) -> float:
        name, begun = f"bare-{number}", time.perf_counter()
        words = ("run", "-d", "--name", name, "--network=none", "--pull=never", IMAGE, "sleep", "300")
        for argv in (words, ("exec", name, "true")):
            done = lab.podman(*argv)
            assert done.returncode == 0, done.stdout
        taken = time.perf_counter() - begun
        lab.podman("rm", "-f", "-t", "0", name)
        return taken

    return many(BARE, one)


def used(server: Server, failed: list[str]) -> list[float]:
    def one(number: int) -> float:
        with httpx.Client(
            base_url=server.url, headers={"X-API-Key": server.key}, timeout=SHORT_S, trust_env=False
        ) as client:
            begun = time.perf_counter()
            session = start(client, f"s{number}")
            said = first_command(session, failed)
            taken = time.perf_counter() - begun
            if said != f"{number}\n" and said != "here\n":
                failed.append(f"{session['session_id']}: {said!r} {session['pod_logs']}")
            client.post("/stop", json={"runtime_id": session["runtime_id"]}).raise_for_status()
            return taken

    return many(SANDBOXES, one)


def first_command(session: dict[str, Any], failed: list[str]) -> str:
    headers = {"X-Session-API-Key": session["session_api_key"]}
    try:
        with httpx.Client(base_url=session["url"], headers=headers, timeout=SHORT_S, trust_env=False) as inner:
            body = {"command": "echo here", "cwd": "/", "timeout": 120}
            return str(inner.post(EXECUTE, json=body).json()["stdout"])
    except (httpx.HTTPError, KeyError) as error:
        failed.append(f"{session['session_id']}: {error!r}")
        return ""


def rss_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS"))) / 1024


def fresh_server_mib() -> float:
    """With all that it imports. The lane's server is a fork of pytest, whose memory is not the server's."""
    argv = [sys.executable, "-c", LOADED + RSS]
    return int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout) / 1024


def round_trips(session: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Milliseconds of one command in a local shell and in a sandbox. They take turns: both bear the machine's load."""
    local, remote = [], []
    headers = {"X-Session-API-Key": session["session_api_key"]}
    shell = ["/bin/busybox", "sh", "-c", "true"]
    with httpx.Client(base_url=session["url"], headers=headers, timeout=SHORT_S, trust_env=False) as inner:
        for _ in range(ROUND_TRIPS):
            local.append(milliseconds(lambda: subprocess.run(shell, capture_output=True, check=True)))
            remote.append(milliseconds(lambda: inner.post(EXECUTE, json={"command": "true"}).raise_for_status()))
    return local, remote


def milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def test_many_sandboxes_none_fails_none_is_left_and_none_is_late(server: Server) -> None:
    first = start(server.client(), "first")  # the image is looked at once
    local, remote = round_trips(first)
    more_ms = statistics.median(remote) - statistics.median(local)
    before = rss_mib(server.pid)
    failed: list[str] = []
    ours = used(server, failed)
    shell = bare(server)
    grown = rss_mib(server.pid) - before
    server_mib = fresh_server_mib() + grown
    figures = {
        "sandboxes": SANDBOXES,
        "failed": len(failed),
        "p50_s": round(sorted(ours)[len(ours) // 2], 3),
        "p95_s": round(p95(ours), 3),
        "bare_p50_s": round(sorted(shell)[len(shell) // 2], 3),
        "bare_p95_s": round(p95(shell), 3),
        "ratio_p95": round(p95(ours) / p95(shell), 2),
        "round_trip_ms": round(statistics.median(remote), 2),
        "local_ms": round(statistics.median(local), 2),
        "more_ms": round(more_ms, 2),
        "server_grew_mib": round(grown, 1),
        "server_mib": round(server_mib, 1),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(figures))  # noqa: T201 -- the benchmark's table
    assert failed == []
    assert len(server.podman("ps", "-aq").stdout.split()) == 1
    if SHORT:
        assert statistics.median(ours) <= AMISS * statistics.median(shell), figures
        assert statistics.median(remote) <= AMISS * statistics.median(local) + MORE_MS, figures
    else:
        assert p95(ours) <= RATIO * p95(shell), figures
        assert more_ms <= MORE_MS, figures
    assert grown < GROWTH_MIB, figures
    assert server_mib < SERVER_MIB, figures
    wait_until(lambda: len(conmons(server)) == 1)
    assert server.end() == 0
    assert server.left() == []


def conmons(server: Server) -> list[int]:
    return [pid for pid in server.left() if Path(f"/proc/{pid}/comm").read_text().strip() == "conmon"]
