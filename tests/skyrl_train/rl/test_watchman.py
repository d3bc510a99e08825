"""The watchman with drivers of a few lines: whatever they do, nothing of them is left."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skyrl_train.launch.signals import Signals
from skyrl_train.process import wait_until
from skyrl_train.procfs import lives
from skyrl_train.rl.watchman import LATE, watch

SAY = "import json, os\ndef say(**what): os.write(int(os.environ['SKYRL_PHASES_FD']), (json.dumps(what) + '\\n').encode())\n"


def driver(text: str) -> list[str]:
    return [sys.executable, "-c", SAY + text]


def run(text: str, signals: Signals | None = None) -> tuple[int, list[str]]:
    reported: list[str] = []
    status = watch(driver(text), os.environ, signals or Signals(), reported.append, grace_s=0.5, stacks_s=2.0)
    return status, reported


@pytest.mark.parametrize(
    ("text", "status"), [("", 0), ("raise SystemExit(3)", 3), ("os.kill(os.getpid(), 9)", 128 + 9)]
)
def test_its_status_is_the_drivers(text: str, status: int) -> None:
    assert run(text) == (status, [])


def test_a_driver_that_ray_ends_is_told_of_by_rays_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    lost = "[2026-11-21 09:54:30,001 C 7 9] core_worker.cc:42: The node is lost"
    writes = (
        f"logs = {str(tmp_path)!r} + f'/ray/session_1_{{os.getpid()}}/logs'\nos.makedirs(logs)\n"
        f"open(logs + '/python-core-driver-1.log', 'w').write({lost!r})\n"
    )
    assert run(f"{writes}os._exit(1)") == (1, [f"Ray's log of the driver: {lost}"])
    assert run(f"{writes}say(begin='end', limit_s=9)\nraise SystemExit(1)") == (1, [])
    assert run(f"{writes}os._exit(0)") == (0, [])


def test_a_phase_that_hangs_is_ended_and_named(capfd: pytest.CaptureFixture[str]) -> None:
    hangs = (
        "import faulthandler, signal, time\nfaulthandler.register(signal.SIGUSR2)\n"
        "def stuck_here():\n  say(begin='weight sync', limit_s=0.2)\n  time.sleep(600)\nstuck_here()\n"
    )
    status, reported = run(hangs)
    assert status == LATE
    late = "TRN006: the phase `weight sync` took longer than 0.2 s (trainer.phase_timeout_s); "
    assert reported == [f"{late}the run was ended; the stacks below show where it hung"]
    assert "stuck_here" in capfd.readouterr().err


def test_a_driver_that_cannot_be_interrupted_is_ended_too() -> None:
    deaf = (
        "import signal, time\n[signal.signal(n, signal.SIG_IGN) for n in (15, 2, 1, 12)]\n"
        "say(begin='rollouts', limit_s=0.2)\ntime.sleep(600)\n"
    )
    assert run(deaf)[0] == LATE


def test_a_phase_that_ends_in_time_is_nothing() -> None:
    quick = "import time\nsay(begin='a', limit_s=1.5)\nsay(end='a')\ntime.sleep(2.0)\n"
    assert run(quick) == (0, [])


def test_processes_that_left_the_drivers_group_are_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    leaves = (
        f"import subprocess\nchild = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"open({str(pid)!r}, 'w').write(str(child.pid))\n"
    )
    status, reported = run(leaves)
    assert (status, reported) == (0, ["ended 1 process left by the driver"])
    assert not lives(int(pid.read_text()))


def test_a_signal_ends_all_and_is_its_status() -> None:
    signals = Signals()
    threading.Timer(0.3, lambda: setattr(signals, "stop", signal.SIGTERM)).start()
    assert run("import time\ntime.sleep(600)", signals)[0] == 128 + signal.SIGTERM


def test_the_warning_of_the_end_is_passed_on() -> None:
    signals = Signals(before_end=True)
    waits = "import signal, time\nsignal.signal(signal.SIGUSR1, lambda *_: os._exit(75))\ntime.sleep(600)\n"
    assert run(f"import time\ntime.sleep(0.3)\n{waits}", signals)[0] == 75  # and not before the driver listens


def test_a_watchman_that_is_killed_takes_its_driver_along(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    text = f"open({str(pid)!r}, 'w').write(str(os.getpid()))\nimport time\ntime.sleep(600)\n"
    program = f"from skyrl_train.rl.watchman import Signals, watch\nwatch({driver(text)!r}, {{}}, Signals(), print)\n"
    parent = subprocess.Popen([sys.executable, "-c", program])
    assert wait_until(lambda: pid.exists() and bool(pid.read_text()), 20.0)
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not lives(int(pid.read_text())), 10.0)
