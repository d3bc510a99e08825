"""Programs: time, output, groups, and every way to an end."""

import signal
import sys
import threading
from pathlib import Path

import pytest

from skyrl_train.process import Completed, run, start, started, wait_until
from skyrl_train.procfs import lives

LONG_S = 300.0
DEAF = "trap '' TERM; echo $$ > {pid}; sleep 600; :"


def shell(text: str) -> list[str]:
    return ["/bin/sh", "-c", text]


def number_in(path: Path) -> int:
    assert wait_until(lambda: path.exists() and bool(path.read_text().strip()), LONG_S)
    return int(path.read_text())


def is_gone(pid: int) -> bool:
    return wait_until(lambda: not lives(pid), LONG_S)


def test_gives_status_and_output() -> None:
    done = run(shell("echo out; echo err >&2; exit 3"), limit_s=LONG_S)
    assert done == Completed(status=3, out=b"out\n", err=b"err\n")
    assert (done.ok, done.text, done.error_text) == (False, "out\n", "err\n")


def test_output_that_is_no_text_is_kept_as_it_is() -> None:
    done = run(shell(r"printf '\377a'"), limit_s=LONG_S)
    assert (done.out, done.text) == (b"\xffa", "�a")


def test_a_signal_is_a_negative_status() -> None:
    assert run(shell("kill -9 $$"), limit_s=LONG_S) == Completed(status=-9)


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["/nowhere/program"], FileNotFoundError),
        (["/etc"], PermissionError),
        (["echo", "a\0b"], OSError),
    ],
)
def test_a_program_that_cannot_be_started_is_an_os_error(argv: list[str], error: type[OSError]) -> None:
    with pytest.raises(error):
        run(argv, limit_s=LONG_S)


def test_a_program_that_vanishes_before_it_starts_is_an_os_error(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert run([str(program)], limit_s=LONG_S).ok
    program.unlink()
    with pytest.raises(FileNotFoundError):
        run([str(program)], limit_s=LONG_S)


def test_gets_no_input() -> None:
    assert run(["cat"], limit_s=LONG_S) == Completed(status=0)


def test_runs_with_the_environment_and_the_directory_it_is_given(tmp_path: Path) -> None:
    done = run(shell("echo $A; pwd"), limit_s=LONG_S, env={"A": "1"}, cwd=tmp_path)
    assert done.text == f"1\n{tmp_path}\n"


def test_output_goes_to_a_file_instead(tmp_path: Path) -> None:
    with open(tmp_path / "log", "ab") as log:
        done = run(shell("echo out; echo err >&2"), limit_s=LONG_S, stdout=log, stderr=log)
    assert done == Completed(status=0)
    assert (tmp_path / "log").read_text() == "out\nerr\n"


def test_is_ended_at_its_limit_with_what_it_wrote() -> None:
    assert run(shell("echo begun; sleep 600"), limit_s=2.0) == Completed(status=None, out=b"begun\n", timed_out=True)


def test_what_it_writes_when_it_is_told_to_end_is_kept() -> None:
    done = run(shell("trap 'echo cleared; exit 0' TERM; echo begun; sleep 600 & wait"), limit_s=2.0, grace_s=LONG_S)
    assert done == Completed(status=None, out=b"begun\ncleared\n", timed_out=True)


def test_a_grandchild_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    text = f"sh -c '{DEAF.format(pid=tmp_path / 'pid')}' & wait".replace("trap ''", 'trap ""')
    assert run(shell(text), limit_s=2.0, grace_s=0.2).timed_out
    assert is_gone(number_in(tmp_path / "pid"))


def test_a_grandchild_that_holds_the_pipe_is_not_waited_for(tmp_path: Path) -> None:
    done = run(shell(f"sleep 600 & echo $! > {tmp_path}/pid; echo done"), limit_s=LONG_S)
    assert done == Completed(status=0, out=b"done\n")
    assert is_gone(number_in(tmp_path / "pid"))


def test_a_program_that_closes_its_pipes_is_still_limited() -> None:
    assert run(shell("exec >&- 2>&-; sleep 600"), limit_s=0.3).timed_out


def test_a_flood_is_cut() -> None:
    done = run(["yes"], limit_s=LONG_S, most_bytes=1 << 20)
    assert (done.status, done.truncated, done.timed_out) == (None, True, False)
    assert 1 << 20 < len(done.out) <= (1 << 20) + (1 << 18)


def test_output_just_below_the_bound_comes_whole() -> None:
    done = run([sys.executable, "-c", "print('x' * 3_000_000)"], limit_s=LONG_S, most_bytes=3_000_001)
    assert (done.status, len(done.out)) == (0, 3_000_001)


def test_a_caller_that_stops_ends_it(tmp_path: Path) -> None:
    stop, found = threading.Event(), list[Completed]()
    text = f"echo $$ > {tmp_path}/pid; sleep 600"
    thread = threading.Thread(target=lambda: found.append(run(shell(text), limit_s=LONG_S, stop=stop)))
    thread.start()
    pid = number_in(tmp_path / "pid")
    stop.set()
    thread.join(LONG_S)
    assert found == [Completed(status=None, stopped=True)]
    assert is_gone(pid)
    assert run(["/nowhere/program"], limit_s=LONG_S, stop=stop) == Completed(status=None, stopped=True)


class Interrupted(Exception):  # noqa: N818 -- a signal, not an error
    pass


def test_an_exception_ends_it(tmp_path: Path) -> None:
    """As the handler of a signal raises it."""

    def interrupt(_number: int, _frame: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(Interrupted):
            run(shell(f"echo $$ > {tmp_path}/pid; sleep 600"), limit_s=LONG_S)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert is_gone(number_in(tmp_path / "pid"))


def test_a_program_that_was_started_is_asked_for_its_status_again_and_again() -> None:
    with started(shell("exit 5")) as child:
        assert child.wait(LONG_S) == 5
        assert (child.poll(), child.status) == (5, 5)
    assert (child.poll(), child.status) == (5, 5)


def test_a_program_that_runs_has_no_status() -> None:
    with started(["sleep", "600"]) as child:
        assert (child.poll(), child.wait(0.0)) == (None, None)
        with pytest.raises(RuntimeError, match=f"process {child.pid} still runs"):
            _ = child.status
    assert child.status == -signal.SIGTERM


def test_its_group_outlives_it_by_the_grace_alone(tmp_path: Path) -> None:
    with started(
        shell(f"sh -c '{DEAF.format(pid=tmp_path / 'pid')}' & exit 0".replace("''", '""')), grace_s=0.2
    ) as child:
        pid = number_in(tmp_path / "pid")
        assert child.wait(LONG_S) == 0
        assert lives(pid)
    assert is_gone(pid)


def test_a_second_end_does_nothing() -> None:
    child = start(["sleep", "600"])
    child.end(LONG_S)
    child.end(0.0)
    child.send(signal.SIGUSR1)
    assert child.status == -signal.SIGTERM


def test_one_that_was_interrupted_is_read_on(tmp_path: Path) -> None:
    """What a first look has read is not lost for a second one."""
    stop = threading.Event()
    with started(shell(f"echo one; until [ -e {tmp_path}/go ]; do sleep 0.05; done; echo two"), stdout=-1) as child:
        before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Interrupted))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(Interrupted):
                child.collect(LONG_S, stop=stop)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        (tmp_path / "go").touch()
        assert child.collect(LONG_S) == Completed(status=0, out=b"one\ntwo\n")
