"""A copy of the fork server behaves as the Python that was asked for; whatever it cannot be, an ordinary Python is."""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from multiprocessing import spawn
from pathlib import Path
from typing import Any

import pytest

from skyrl_train.rl.forks import launcher, start

LIMIT_S = 60
IMPORTED = "import sys; print('xml.dom.minidom' in sys.modules)"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(name="forks")
def _forks() -> Iterator[start.Forks]:
    forks = start.start(os.environ, ["json"], ["xml.dom.minidom"])
    yield forks
    forks.end(LIMIT_S)
    assert not Path(forks.socket).parent.exists()


@pytest.fixture(name="environ")
def _environ(forks: start.Forks) -> dict[str, str]:
    return {**os.environ, launcher.SOCKET: forks.socket}


@pytest.fixture(name="run")
def _run(forks: start.Forks, environ: dict[str, str]) -> Run:
    def run(*words: str, **settings: Any) -> "subprocess.CompletedProcess[str]":
        made = {"env": environ, "capture_output": True, "text": True, "timeout": LIMIT_S, **settings}
        return subprocess.run([forks.program, *words], check=False, **made)

    return run


def test_a_copy_has_the_imports(run: Run) -> None:
    assert run("-c", IMPORTED).stdout == "True\n"


def test_words_directory_and_variables_are_the_launchers(run: Run, environ: dict[str, str], tmp_path: Path) -> None:
    code = "import os, sys; print(sys.argv, os.getcwd(), os.environ['RANK'])"
    done = run("-c", code, "a b", "-c", env=environ | {"RANK": "3"}, cwd=tmp_path)
    assert done.stdout == f"['-c', 'a b', '-c'] {tmp_path} 3\n"


def test_a_program_and_a_module_run_as_main(run: Run, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    (tmp_path / "beside.py").write_text("VALUE = 5")
    program.write_text("import sys, beside\nif __name__ == '__main__': print(sys.argv[1:], beside.VALUE, __file__)")
    assert run(str(program), "x").stdout == f"['x'] 5 {program}\n"
    assert run("-m", "json.tool", "/dev/stdin", input="[1]").stdout == "[\n    1\n]\n"


def test_a_copy_that_ends_at_once_has_its_number_and_its_end_in_one_packet() -> None:
    server, client = socket.socketpair()
    with server, client:
        server.sendall(b"14973\n9\n")
        assert (launcher.number_from(client), launcher.number_from(client)) == (14973, 9)


@pytest.mark.parametrize(
    ("code", "status"),
    [("import sys; sys.exit(3)", 3), ("raise ValueError('why')", 1), ("import os; os.kill(os.getpid(), 9)", -9)],
)
def test_the_launcher_ends_as_the_copy_ends(run: Run, code: str, status: int) -> None:
    done = run("-c", code)
    assert done.returncode == status
    assert ("ValueError: why" in done.stderr) == (status == 1)


def test_what_was_registered_for_the_end_runs(run: Run) -> None:
    assert run("-c", "import atexit; atexit.register(print, 'the end')").stdout == "the end\n"


def test_open_files_keep_their_numbers(forks: start.Forks, environ: dict[str, str]) -> None:
    reader, writer = os.pipe()
    code = f"import os; os.write({writer}, b'here')"
    done = subprocess.run([forks.program, "-c", code], env=environ, pass_fds=(writer,), timeout=LIMIT_S, check=True)
    os.close(writer)
    assert (done.returncode, os.read(reader, 10)) == (0, b"here")
    os.close(reader)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_launcher_ends_the_copy(
    forks: start.Forks, environ: dict[str, str], number: signal.Signals
) -> None:
    reader, writer = os.pipe()
    code = f"import os, signal; os.write({writer}, b'here'); signal.pause()"
    begun = subprocess.Popen([forks.program, "-c", code], env=environ, pass_fds=(writer,))
    os.close(writer)
    assert os.read(reader, 10) == b"here"
    begun.send_signal(number)
    assert begun.wait(LIMIT_S) == -number
    assert os.read(reader, 10) == b""  # the copy held the other end until it ended
    os.close(reader)


def _answer(give: Any) -> None:
    give.send("xml.dom.minidom" in sys.modules)


def test_a_process_of_multiprocessing_is_a_copy(
    forks: start.Forks, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As vLLM starts its engine."""
    monkeypatch.setenv(launcher.SOCKET, environ[launcher.SOCKET])
    before = spawn.get_executable()
    context = multiprocessing.get_context("spawn")
    take, give = context.Pipe(duplex=False)
    context.set_executable(forks.program)
    try:
        process = context.Process(target=_answer, args=(give,))
        process.start()
        process.join(LIMIT_S)
    finally:
        context.set_executable(before)
    assert (take.recv(), process.exitcode) == (True, 0)


@pytest.mark.parametrize("words", [("-X", "dev", "-c", IMPORTED), ("-O", "-c", IMPORTED)])
def test_an_option_that_a_copy_cannot_obey_makes_an_ordinary_python(run: Run, words: tuple[str, ...]) -> None:
    assert run(*words).stdout == "False\n"


def test_an_engine_that_a_worker_of_ray_starts_is_a_copy(run: Run, environ: dict[str, str]) -> None:
    assert run("-c", IMPORTED, env=environ | {"PYTHONBREAKPOINT": "ray.util.rpdb.set_trace"}).stdout == "True\n"
    assert run("-c", IMPORTED, env=environ | {"PYTHONBREAKPOINT": ""}).stdout == "True\n"
    assert run("-c", IMPORTED, env=environ | {"VERL_RAY_JOB_ID": "01000000"}).stdout == "True\n"
    assert run("-c", IMPORTED, env=environ | {"VERL_REPLICA_RANK": "0"}).stdout == "True\n"


def test_a_variable_that_was_read_at_the_import_makes_an_ordinary_python(run: Run, environ: dict[str, str]) -> None:
    assert (
        run("-c", IMPORTED, env=environ | {"RANK": "0"}).stdout == "True\n"
    )  # the first one's variables are imported with
    assert run("-c", IMPORTED, env=environ | {"VERL_USE_EXTERNAL_MODULES": "json"}).stdout == "False\n"
    assert run("-c", IMPORTED, env=environ | {"PYTHONHASHSEED": "7"}).stdout == "False\n"


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "LD_LIBRARY_PATH", "HF_HUB_OFFLINE", "VLLM_LOGGING_LEVEL"])
def test_a_first_worker_whose_python_would_differ_ends_the_server(run: Run, environ: dict[str, str], name: str) -> None:
    """Python and the first imports have read it before: a copy would hash, find or load otherwise."""
    assert run("-c", IMPORTED, env=environ | {name: "7"}).stdout == "False\n"
    assert run("-c", IMPORTED).stdout == "False\n"


def test_a_variable_that_an_import_changes_is_not_the_drivers(tmp_path: Path) -> None:
    """cv2 puts its own folder into LD_LIBRARY_PATH."""
    (tmp_path / "changes.py").write_text("import os; os.environ['LD_LIBRARY_PATH'] = '/of/a/package'")
    places = os.environ | {"PYTHONPATH": str(tmp_path)}
    forks = start.start(places, ["changes"], ["xml.dom.minidom"])
    try:
        words = [forks.program, "-c", f"{IMPORTED}; import os; print(os.environ.get('LD_LIBRARY_PATH'))"]
        environ = places | {launcher.SOCKET: forks.socket}
        done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        assert done.stdout == f"True\n{environ.get('LD_LIBRARY_PATH')}\n"
    finally:
        forks.end(LIMIT_S)


def test_a_switch_that_verl_turns_off_is_as_one_that_is_not_set(run: Run, environ: dict[str, str]) -> None:
    assert run("-c", IMPORTED, env=environ | {"VLLM_BATCH_INVARIANT": "0"}).stdout == "True\n"


def test_without_a_server_it_is_an_ordinary_python(run: Run, environ: dict[str, str], tmp_path: Path) -> None:
    assert run("-c", IMPORTED, env=environ | {launcher.SOCKET: str(tmp_path / "none")}).stdout == "False\n"
    assert run("-c", IMPORTED, env=dict(os.environ)).stdout == "False\n"


def test_a_server_that_ends_before_it_answers_leaves_an_ordinary_python(
    forks: start.Forks, environ: dict[str, str], tmp_path: Path
) -> None:
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        begun = subprocess.Popen(
            [forks.program, "-c", IMPORTED],
            env=environ | {launcher.SOCKET: path},
            stdout=subprocess.PIPE,
            text=True,
        )
        listening.accept()[0].close()
        assert begun.communicate(timeout=LIMIT_S)[0] == "False\n"
