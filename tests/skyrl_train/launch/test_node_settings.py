"""A node's settings: taken by a process that listens, and gone with a job that is told to end while they are made."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from skyrl_train.config.load import parse, resolved
from skyrl_train.config.run import RunConfig
from skyrl_train.launch import commands, node_settings
from skyrl_train.launch.closing import close
from skyrl_train.launch.directory import Ended, read_ended
from skyrl_train.launch.role import Role
from skyrl_train.launch.signals import Signals
from skyrl_train.launch.supervise import supervise
from skyrl_train.launch.work import Work
from skyrl_train.procfs import others, read

JOB = str(10**9 + os.getpid())
CONFIG = '[model]\npath = "a/b"\n[watch]\nenabled = false\n'
LIMIT_S = 300.0


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def script(at: Path, text: str) -> str:
    path = at / "trainer_node.sh"
    path.write_text(f'{text}\nexec "$@"\n')
    return str(path)


def work(at: Path, text: str, signals: Signals | None = None) -> Work:
    return Work(
        role=Role.TRAINER,
        job_dir=str(at),
        config=parse(CONFIG),
        payload=("true",),
        environ={},
        signals=signals or Signals(),
        external_url="",
        node_script=script(at, text),
    )


def test_the_environment_is_what_the_script_makes_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.environ |= {"TO_GO": "1", "TO_STAY": "a=b\nc"}
    made = 'unset TO_GO; export MADE="two\nlines" EMPTY=; echo a warning >&2'
    assert node_settings.apply(script(tmp_path, made), lambda: False)
    wanted = {"MADE": "two\nlines", "EMPTY": "", "TO_STAY": "a=b\nc"}
    assert {name: os.environ.get(name) for name in (*wanted, "TO_GO")} == {**wanted, "TO_GO": None}
    assert capsys.readouterr().err == "a warning\n"


def test_what_bash_prints_before_the_script_is_no_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "modules.sh").write_text("echo loading modules; export LOADED=yes\n")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "modules.sh"))
    before = set(os.environ)
    assert node_settings.apply(script(tmp_path, "true"), lambda: False)
    assert {*os.environ} - before - {"SHLVL", "PWD", "OLDPWD", "_"} == {"LOADED"}
    assert capsys.readouterr().err == "loading modules\n"


def test_a_variable_without_a_name_and_functions_of_the_shell_harm_nothing(tmp_path: Path) -> None:
    function = "BASH_FUNC_module%%"
    taken = "from skyrl_train.launch.node_settings import apply;  import os; "
    taken += f"print(apply({script(tmp_path, 'export MADE=1')!r}, lambda: False), os.environ['MADE'], '{function}' in os.environ)"
    environ = {**os.environ, "": "nameless", function: "() {  :\n}"}
    done = subprocess.run((sys.executable, "-c", taken), env=environ, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True 1 True\n", "")


def test_a_job_without_settings_is_refused_and_says_why(tmp_path: Path) -> None:
    assert supervise(work(tmp_path, "echo 'no such node' >&2; exit 2")) == 78
    told = read_ended(str(tmp_path), Role.TRAINER)
    assert told is not None
    assert (told.status, told.reason) == (78, "cannot make the settings of this node: no such node")


def test_a_script_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(node_settings.SettingsError, match=r"trainer_node\.sh: No such file"):
        node_settings.apply(str(tmp_path / "trainer_node.sh"), lambda: False)


def test_a_script_that_hangs_is_ended(tmp_path: Path) -> None:
    hangs = script(tmp_path, "sleep 600")
    with pytest.raises(node_settings.SettingsError, match=r"timed out after 0\.2 s"):
        node_settings.apply(hangs, lambda: False, limit_s=0.2)
    assert not [pid for pid in others() if hangs.encode() in read(f"/proc/{pid}/cmdline").split(b"\0")]


def test_a_job_that_is_told_to_end_leaves_nothing_of_half_made_settings(tmp_path: Path) -> None:
    """The real command, with the signal in the middle of the script."""
    made, job_dir = tmp_path / f"skyrl-{os.getuid()}-{JOB}", tmp_path / "job"
    job_dir.mkdir()
    commands.write(str(job_dir), commands.Commands(runtime=(), trainer=("true",), runtime_url="http://x"))
    (job_dir / "config.json").write_text(resolved(parse(CONFIG)))
    script(job_dir, f"mkdir -p {made}/vllm; sleep 600")
    environ = {**os.environ, "SLURM_JOB_ID": JOB, "TMPDIR": str(tmp_path)}
    words = (sys.executable, "-m", "skyrl_train", "job", "trainer", str(job_dir))
    with subprocess.Popen(words, env=environ, start_new_session=True) as job:
        try:
            _until((made / "vllm").exists)
            job.send_signal(signal.SIGTERM)
            assert job.wait(LIMIT_S) == 128 + signal.SIGTERM
        finally:
            job.kill()
            leftover = made.exists()
            shutil.rmtree(made, ignore_errors=True)
    told = read_ended(str(job_dir), Role.TRAINER)
    assert (leftover, told and told.reason) == (False, f"stopped by signal {signal.SIGTERM:d}")


def test_the_node_is_cleared_before_anything_that_takes_long(tmp_path: Path) -> None:
    """Slurm kills a job half a minute after it told it to end, and a post-mortem may take longer."""
    order = list[str]()

    def clear(_environ: Mapping[str, str]) -> list[str]:
        order.append("cleared")
        return []

    def write_summary(_config: RunConfig, job_dir: str) -> None:
        order.append(f"post-mortem of {job_dir}")

    stopped = work(tmp_path, "true", Signals(stop=15))
    close(stopped, Ended(128 + 15, "stopped by signal 15", 1.0), clear=clear, write_summary=write_summary)
    assert order == ["cleared", f"post-mortem of {tmp_path}"]


def test_a_job_that_was_told_to_stop_has_the_status_of_its_signal(tmp_path: Path) -> None:
    assert supervise(work(tmp_path, "true", Signals(stop=15))) == 128 + 15


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
