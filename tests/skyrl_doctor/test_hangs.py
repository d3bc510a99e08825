"""Nothing that hangs holds the doctor: it ends in time, names what hung and its limit, and leaves no process behind.

The whole command runs, as a user runs it, on a machine whose tools sleep for ever and whose files are FIFOs.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

DEADLINE_S = 4
LATEST_S = 60
"""What hangs here sleeps for an hour; a machine that is slow may need more than the deadline to say so."""
PATIENCE_S = 200
SLEEPER = "#!/bin/sh\ntrap '' TERM INT HUP\n(trap '' TERM INT HUP; sleep 3600) &\nsleep 3600\n"
TOOLS = ("nvidia-smi", "podman", "gcc", "cc", "clang", "slirp4netns", "conmon", "sbatch", "scontrol")


@pytest.fixture
def mark() -> str:
    """In the environment of every process that the doctor starts: how to find what it left behind."""
    return f"DOCTOR_TEST_MARK_{uuid.uuid4().hex}"


@pytest.fixture
def hung_tools(tmp_path: Path) -> Path:
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in (*TOOLS, "python-that-hangs"):
        tool = directory / name
        tool.write_text(SLEEPER, encoding="utf-8")
        tool.chmod(0o755)
    return directory


def doctor(tools: Path, mark: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(tools.parent), mark: "1", **environ}
    argv = [
        sys.executable,
        "-m",
        "skyrl_doctor",
        "preflight",
        "--format",
        "json",
        "--deadline",
        str(DEADLINE_S),
        *words,
    ]
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=PATIENCE_S, env=env, cwd=tools.parent, check=False
    )


def left_behind(mark: str) -> Iterator[str]:
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            environ = (process / "environ").read_bytes()
            state = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in environ and state != "Z":
            yield f"{process.name} {words!r}"


def nothing_is_left(mark: str) -> None:
    """What was killed needs a moment to go; what was not sleeps for ever."""
    with contextlib.suppress(AssertionError):
        wait_for(lambda: not list(left_behind(mark)))
    assert list(left_behind(mark)) == []


def reasons(done: subprocess.CompletedProcess[str], status: str) -> dict[str, str]:
    report = json.loads(done.stdout)
    assert report["duration_s"] <= LATEST_S
    return {outcome["id"]: outcome["reason"] for outcome in report["outcomes"] if outcome["status"] == status}


def test_tools_that_sleep_for_ever(hung_tools: Path, mark: str) -> None:
    done = doctor(hung_tools, mark, "--role", "gpu", UV_PYTHON=str(hung_tools / "python-that-hangs"))
    unknown = reasons(done, "unknown")
    assert done.returncode in (1, 3)
    assert {"GPU001", "GPU003", "ENV001", "ENV012"} <= set(unknown)
    for id_, reason in unknown.items():
        if reason == f"check {id_} did not start before the deadline":  # on a machine that is busy with others
            continue
        assert any(word in reason for word in ("timed out after", "did not finish before")), (
            id_,
            reason,
        )
        assert " s" in reason
    nothing_is_left(mark)
    assert "Traceback" not in done.stdout + done.stderr


def test_a_deadline_shorter_than_any_limit(hung_tools: Path, mark: str) -> None:
    done = doctor(
        hung_tools, mark, "--role", "gpu", "--deadline", "0.5", UV_PYTHON=str(hung_tools / "python-that-hangs")
    )
    report = json.loads(done.stdout)
    assert report["duration_s"] < LATEST_S
    assert any("deadline of 0.5 s" in outcome["reason"] for outcome in report["outcomes"])
    nothing_is_left(mark)


def fifo_home(root: Path) -> None:
    """FIFOs where Podman's configuration, its store's files and the login file would be."""
    for name in (
        ".config/containers/storage.conf",
        ".config/containers/containers.conf",
        ".netrc",
        "run/libpod/tmp/pause.pid",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(root / name)


@pytest.mark.parametrize("role", ["gpu", "runtime", "login"])
def test_fifos_in_place_of_files(tmp_path: Path, mark: str, role: str) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "podman").write_text("#!/bin/sh\necho podman version 4.3.1\n", encoding="utf-8")
    (tools / "podman").chmod(0o755)
    fifo_home(tmp_path)
    config = tmp_path / ".config" / "containers"
    done = doctor(
        tools,
        mark,
        "--role",
        role,
        XDG_RUNTIME_DIR=str(tmp_path / "run"),
        CONTAINERS_STORAGE_CONF=str(config / "storage.conf"),
        CONTAINERS_CONF=str(config / "containers.conf"),
    )
    report = json.loads(done.stdout)
    assert report["duration_s"] <= LATEST_S
    nothing_is_left(mark)
    if role == "runtime":
        assert any(
            "is a fifo, not a file" in outcome["reason"]
            for outcome in report["outcomes"]
            if outcome["status"] == "unknown"
        )


def test_a_compiler_that_hangs_leaves_no_directory(hung_tools: Path, mark: str) -> None:
    scratch = hung_tools.parent / "scratch"
    scratch.mkdir()
    done = doctor(hung_tools, mark, "--select", "ENV001", "--deadline", "1.5", TMPDIR=str(scratch))
    assert reasons(done, "unknown").keys() == {"ENV001"}
    assert list(scratch.iterdir()) == []
    nothing_is_left(mark)


@pytest.mark.parametrize("how", ["closed", "slow"])
def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path, mark: str, how: str) -> None:
    command = f"{sys.executable} -m skyrl_doctor preflight | {'true' if how == 'closed' else 'head -c 1'}"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE_S, cwd=tmp_path, check=False
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("number", "word", "code"), [(1, "terminated", 129), (2, "interrupted", 130), (15, "terminated", 143)]
)
def test_a_signal_ends_it_and_its_children(hung_tools: Path, mark: str, number: int, word: str, code: int) -> None:
    env = {"PATH": f"{hung_tools}:/usr/bin:/bin", mark: "1", "UV_PYTHON": str(hung_tools / "python-that-hangs")}
    argv = [sys.executable, "-m", "skyrl_doctor", "preflight", "--role", "gpu", "--deadline", "60"]
    before = signal.signal(number, signal.SIG_DFL)  # below nohup it would inherit that SIGHUP is ignored
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        signal.signal(number, before)
        wait_for(lambda: any("python-that-hangs" in text for text in left_behind(mark)))
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (code, f"skyrl-doctor: {word}\n")
    nothing_is_left(mark)


def wait_for(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(PATIENCE_S * 20):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError(f"not so within {PATIENCE_S} s")
