"""Where the output goes: streams that are closed or full, devices in place of files, what `--` means."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

DOCTOR = [sys.executable, "-m", "skyrl_doctor"]
ONE = ("preflight", "--select", "ENV016")
EXAMPLE = Path(__file__).parents[2] / "examples" / "mig20.toml"
COMMANDS = [ONE, ("list",), ("explain", "GPU001"), ("env", "--role", "gpu"), ("fix", "ENV016"), ("--version",)]


def sh(redirections: str, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", *DOCTOR, *words]
    clean = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=clean, check=False)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_closed_stdout_changes_no_exit_status(words: tuple[str, ...]) -> None:
    done = sh(">&-", *words)
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_streams_change_no_refusal() -> None:
    stale = {"VLLM_USE_V1": "0"}
    assert sh(">&- 2>&- <&-", *ONE, "--fail-on", "warning", env=stale).returncode == 1
    assert sh("2>&-", "preflight", "/no/such/file.toml").returncode == 2
    done = sh("2>&-", "gate", "--select", "ENV016", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran\n")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_disk_is_one_sentence(words: tuple[str, ...]) -> None:
    done = sh(">/dev/full", *words)
    assert (done.returncode, done.stderr) == (2, "skyrl-doctor: cannot write: No space left on device\n")


def test_a_gate_that_cannot_report_starts_nothing() -> None:
    done = sh("2>/dev/full", "gate", "--select", "ENV016", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_report_into_a_device_or_fifo_goes_through_it(tmp_path: Path) -> None:
    """A file is replaced by rename; what is no file would be replaced by one."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert sh("", *ONE, "--format", "prometheus", "--output", str(fifo)).returncode == 0
    assert os.read(reader, 1 << 16).startswith(b"# HELP skyrl_doctor_check_status")
    os.close(reader)
    assert fifo.is_fifo()


def test_a_report_into_a_link_goes_where_it_points(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "there")
    assert sh("", *ONE, "--format", "json", "--output", str(tmp_path / "link")).returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "there").read_text(encoding="utf-8"))["verdict"] == "pass"


def test_a_report_that_cannot_be_put_in_its_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    done = sh("", *ONE, "--output", str(tmp_path / "directory"))
    assert (done.returncode, done.stderr) == (
        2,
        f"skyrl-doctor preflight: cannot write {tmp_path}/directory: Is a directory\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["directory"]


def test_two_hyphens_end_the_options_of_every_command_but_gate() -> None:
    done = sh("", *ONE, "--format", "json", "--", str(EXAMPLE))
    assert json.loads(done.stdout)["target"]["files"] == [str(EXAMPLE)]
    assert sh("", "preflight", "--", "/no/such/file.toml").returncode == 2


def test_the_gated_command_gets_its_signals_as_the_doctor_got_them() -> None:
    """Python ignores SIGPIPE and SIGXFSZ for itself; a command that inherits that never ends a pipeline."""
    done = sh("", "gate", "--select", "ENV016", "--", "grep", "SigIgn", "/proc/self/status")
    ignored = int(done.stdout.split()[1], 16)
    assert ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)) == 0


STRANGE = """
import sys
from skyrl_doctor.core.check import check
from skyrl_doctor.plan.model import Plan

print("noise on import")


@check("STR001", fix="operator: a test")
def noisy(plan: Plan):
    print("noise of a check")
    return ()
"""


def test_what_strangers_print_is_no_part_of_a_report_and_their_exits_end_nothing(tmp_path: Path) -> None:
    (tmp_path / "strange.py").write_text(STRANGE, encoding="utf-8")
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)", encoding="utf-8")
    (tmp_path / "strange-1.dist-info").mkdir()
    points = "[skyrl_doctor.checks]\nstrange = strange\nleaves = leaves\n"
    (tmp_path / "strange-1.dist-info" / "entry_points.txt").write_text(points, encoding="utf-8")
    done = sh("", "preflight", "--select", "STR001", "--format", "json", env={"PYTHONPATH": str(tmp_path)})
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "noise on import\nnoise of a check\n")
    assert report["summary"]["pass"] == 1
    assert report["notes"] == ["leaves (entry point 'leaves' of strange) cannot be imported: SystemExit: 0"]
