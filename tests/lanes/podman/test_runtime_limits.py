"""A fork bomb and a memory hog in a real sandbox end themselves, or their sandbox, and nothing else; the status says why.

Were our own guard to fail, the test would not take the machine: the server and all below it run under an outer limit,
RLIMIT_NPROC of a user of their own, and as root a cgroup for processes and one for memory.
"""

import contextlib
import os
import resource
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanes.podman.conftest import NewLab
from lanes.podman.lab import SHORT_S, Lab, wait_until
from lanes.podman.runtime import SETTINGS, Server, agent, start
from lanes.podman.stand_in import stand_in_bundle
from skyrl_train.config.sections.sandbox import SandboxSection

pytestmark = pytest.mark.podman
BOMB = "bomb() { bomb | bomb & }; bomb; sleep 60"
HOG = "/opt/skyrl/*/libs/ld-* --library-path $(echo /opt/skyrl/*/libs) $(echo /opt/skyrl/*/bin/python3) -I -S -c "
EAT = "'held = []\nwhile True: held.append(bytearray(8 << 20))'"
PROCESSES, MEMORY = 900, 1536 << 20
"""The outer limits: some ten times what a sandbox may have."""
_CGROUPS = Path("/sys/fs/cgroup")
BOMBED, ATE = "more than the 64 processes", "MiB of memory, more than the 256"


@pytest.fixture
def outer() -> Iterator[list[Path]]:
    """Groups of the first version, where this host has them and we may make some."""
    made: list[Path] = []
    for kind, file, most in (("pids", "pids.max", PROCESSES), ("memory", "memory.limit_in_bytes", MEMORY)):
        group = _CGROUPS / kind / f"skyrl-lane-{os.getpid()}"
        with contextlib.suppress(OSError):
            group.mkdir()
            (group / file).write_text(str(most))
            made.append(group)
    yield made
    for group in made:
        wait_until(lambda group=group: not (group / "cgroup.procs").read_text())
        group.rmdir()


@pytest.fixture
def lab(new_lab: NewLab, outer: list[Path]) -> Iterator[Lab]:
    """The groups go after all that is in them."""
    made = new_lab()
    yield made
    made.close()


@pytest.fixture
def server(lab: Lab, outer: list[Path], image_archive: Path) -> Iterator[Server]:
    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
        for group in outer:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    made = Server(lab, before=bound).stock(image_archive)
    yield made
    made.close()


def say(session: dict[str, Any], command: str, limit_s: int = 120) -> dict[str, Any]:
    """A sandbox in which a bomb goes off may take its time, or be gone."""
    with agent(session) as client:
        client.timeout = SHORT_S
        body = {"command": command, "cwd": "/", "timeout": limit_s}
        return dict(client.post("/api/bash/execute_bash_command", json=body).json())


@pytest.mark.parametrize(("command", "said"), [(BOMB, BOMBED), (HOG + EAT, ATE)], ids=["fork bomb", "memory hog"])
def test_it_ends_alone_and_its_sandbox_goes_on(server: Server, command: str, said: str) -> None:
    client = server.up().client()
    hostile, bystander = start(client, "hostile"), start(client, "bystander")
    assert say(bystander, "sleep 600 >/dev/null 2>&1 & echo begun")["stdout"] == "begun\n"
    done = say(hostile, command)
    assert done["exit_code"] in (-9, 137), done
    assert said in done["stderr"]
    wait_until(lambda: say(hostile, "echo still here")["stdout"] == "still here\n")
    session = client.get("/sessions/hostile").json()
    assert session["pod_status"] == "ready"
    assert next(event for event in session["events"] if said in event).startswith("limit: ")
    assert say(bystander, "cat /proc/[0-9]*/comm")["stdout"].split().count("sleep") == 1
    assert client.get("/sessions/bystander").json()["events"] == ["ready"]
    metrics = client.get("/metrics").text
    holder = "cgroup" if "no limits" not in server.log else "sandboxd"
    assert f'skyrl_runtime_sandbox_limit{{held_by="{holder}",what="processes"}} 64.0\n' in metrics


def test_with_the_real_server_its_sandbox_ends_and_the_status_says_why(server: Server, workshop: Path) -> None:
    server.sandbox = SandboxSection(agent_server=stand_in_bundle(workshop).directory)
    client = server.up().client()
    hostile, bystander = start(client, "hostile"), start(client, "bystander")
    with contextlib.suppress(Exception):
        say(hostile, BOMB)
    wait_until(lambda: client.get("/sessions/hostile").json()["pod_status"] == "failed")
    logs = client.get("/sessions/hostile").json()["pod_logs"]
    wanted = "the sandbox ended: killed by SIGKILL (exit status 137); more than the 64 processes"
    assert logs.startswith(wanted), logs
    assert say(bystander, "echo unharmed")["stdout"] == "unharmed\n"
    wait_until(lambda: hostile["runtime_id"] not in server.podman("ps", "-a", "--format", "{{.Names}}").stdout)


def test_where_nobody_looks_the_users_own_limit_holds(server: Server) -> None:
    """The backstop behind sandboxd: RLIMIT_NPROC counts the processes of a user, in his user namespace as outside."""
    server.settings = replace(SETTINGS, pids=0)
    client = server.up().client()
    session = start(client, "s1")
    count = f"i=0; while [ $i -lt {2 * PROCESSES} ]; do sleep 20 >/dev/null 2>&1 & i=$((i+1)); done 2>/dev/null; echo"
    say(session, f"({count}) 2>/dev/null; true")
    pid = int(server.podman("inspect", "-f", "{{.State.Pid}}", session["runtime_id"]).stdout)
    namespace = os.readlink(f"/proc/{pid}/ns/pid")
    assert 100 < processes_in(namespace) <= PROCESSES
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # with no process left for this user Podman itself can remove nothing
    wait_until(lambda: processes_in(namespace) == 0)


def processes_in(namespace: str) -> int:
    found = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            found += entry.name.isdigit() and os.readlink(entry / "ns/pid") == namespace
    return found
