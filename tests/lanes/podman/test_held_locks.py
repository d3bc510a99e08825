"""POD007 against real podman, which hangs without a word while somebody holds one of these files."""

import subprocess
import sys
import time

import pytest

from lanes.podman.lab import Lab, state_of, wait_until
from skyrl_doctor.core.model import Outcome, Severity, Status
from skyrl_doctor.facts.podman import locks

pytestmark = pytest.mark.podman
NEVER_S = 100.0
"""Podman itself waits without end."""
CLEAN = Outcome(id="POD007", slug="store-locked", status=Status.PASS)
LOCKS = (
    "graph/storage.lock",
    "graph/overlay-layers/layers.lock",
    "graph/overlay-images/images.lock",
    "graph/overlay-containers/containers.lock",
    "xdg/containers/overlay-layers/mountpoints.lock",
    "xdg/libpod/tmp/alive.lck",
)
HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "r+")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


def hold(lab: Lab, name: str, seconds: float = 300.0) -> "subprocess.Popen[str]":
    """Another process of the same machine that has the lock."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lab.base / name), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    return started(lab, holder)


def started(lab: Lab, holder: "subprocess.Popen[str]") -> "subprocess.Popen[str]":
    assert holder.stdout is not None
    lab.ends.append(lambda: end(holder))
    assert holder.stdout.readline() == "held\n"
    return holder


def end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.mark.parametrize("name", LOCKS)
def test_the_holder_is_named_at_once_and_ending_it_heals(lab: Lab, name: str) -> None:
    holder = hold(lab, name)
    before = time.monotonic()
    found = lab.doctor("POD007")
    took_s = time.monotonic() - before
    assert took_s < NEVER_S
    (finding,) = found.findings
    assert finding.message.startswith(f"pid {holder.pid} ({sys.executable} -c")
    assert finding.message.endswith(
        f" has held {lab.base / name} for 0.5 s or longer, and every podman command waits for it; expected a free lock"
    )
    assert finding.severity is Severity.ERROR
    assert lab.podman("run", "--rm", "--pull=never", "localhost/box", "true", limit_s=1.5).returncode == 124
    assert finding.remedy is not None
    assert finding.remedy.commands == (f"kill {holder.pid}",)
    subprocess.run(["bash", "-c", finding.remedy.commands[0]], check=True)
    holder.wait()
    assert (lab.sandbox().returncode, lab.doctor("POD007")) == (0, CLEAN)


def test_one_holder_of_two_locks_is_one_finding(lab: Lab) -> None:
    program = HOLD.replace('open(sys.argv[1], "r+")', '[open(name, "r+") for name in sys.argv[1].split()]')
    program = program.replace("fcntl.lockf(file, fcntl.LOCK_EX)", "[fcntl.lockf(one, fcntl.LOCK_EX) for one in file]")
    names = f"{lab.base / LOCKS[0]} {lab.base / LOCKS[1]}"
    started(lab, subprocess.Popen([sys.executable, "-c", program, names, "300"], stdout=subprocess.PIPE, text=True))
    (finding,) = lab.doctor("POD007").findings
    assert f"has held {lab.base / LOCKS[0]}, {lab.base / LOCKS[1]} for" in finding.message


def test_a_lock_that_is_held_for_a_moment_is_no_fault(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look comes half a second after the first; here later, so that a slow machine cannot miss the end."""
    monkeypatch.setattr(locks, "APART_S", 4.0)
    hold(lab, LOCKS[0], seconds=0.35)
    assert lab.doctor("POD007") == CLEAN


def test_a_stopped_holder_is_named_as_stopped(lab: Lab) -> None:
    """Ctrl-Z in the middle of a command that holds a lock."""
    holder = hold(lab, LOCKS[0])
    holder.send_signal(19)
    wait_until(lambda: state_of(holder.pid) == "T")
    (finding,) = lab.doctor("POD007").findings
    assert finding.remedy is not None
    assert (", which is stopped, has held" in finding.message, finding.remedy.commands) == (
        True,
        (f"kill -KILL {holder.pid}",),
    )


def test_a_podman_that_answers_nothing_costs_its_limit(lab: Lab) -> None:
    """The command itself hangs: what needs its version is unknown, and the store is judged all the same."""
    program = lab.base / "bin" / "podman"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    program.parent.chmod(0o755)
    hung = lab.but(PATH=f"{program.parent}:{lab.env['PATH']}")
    before = time.monotonic()
    needs_version, needs_none = hung.doctor("POD008"), hung.doctor("POD006")
    assert time.monotonic() - before < NEVER_S
    assert (needs_version.status, needs_none.status) == (Status.UNKNOWN, Status.PASS)
    assert needs_version.reason == ("Podman's version decides which helpers it needs, and podman: timed out after 2 s")
