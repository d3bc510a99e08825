"""Programs of coroutines: the same limits, and an end when the task is cancelled."""

import asyncio
import signal
from pathlib import Path

import pytest

from skyrl_train.process import KEEP, Completed, wait_until
from skyrl_train.process_async import end_async, run_async, start_async
from skyrl_train.procfs import lives

LONG_S = 300.0


def shell(text: str) -> list[str]:
    return ["/bin/sh", "-c", text]


def is_gone(path: Path) -> bool:
    return wait_until(lambda: not lives(int(path.read_text())), LONG_S)


async def begun(path: Path) -> None:
    while not (path.exists() and path.read_text().strip()):
        await asyncio.sleep(0.02)


def test_gives_status_and_output() -> None:
    done = asyncio.run(run_async(shell("echo out; exit 3"), limit_s=LONG_S))
    assert done == Completed(status=3, out=b"out\n")


def test_is_ended_at_its_limit() -> None:
    done = asyncio.run(run_async(["sleep", "600"], limit_s=0.2))
    assert done == Completed(status=None, timed_out=True)


@pytest.mark.parametrize("argv", [["/nowhere/program"], ["echo", "a\0b"]])
def test_a_program_that_cannot_be_started_is_an_os_error(argv: list[str]) -> None:
    with pytest.raises(OSError, match=r"No such file|null byte"):
        asyncio.run(run_async(argv, limit_s=LONG_S))
    with pytest.raises(OSError, match=r"No such file|null byte"):
        asyncio.run(start_async(argv))


def test_a_task_that_is_cancelled_ends_it_first(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def cancelled() -> bool:
        task = asyncio.create_task(run_async(shell(f"echo $$ > {pid}; sleep 600"), limit_s=LONG_S))
        await begun(pid)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())
    assert not lives(int(pid.read_text()))


def test_one_that_is_talked_to_ends_by_itself_when_its_input_closes() -> None:
    async def talk() -> tuple[bytes, int | None]:
        process = await start_async(["cat"], stdin=KEEP, stdout=KEEP)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"x\n")
        line = await process.stdout.readline()
        await end_async(process, finish_s=LONG_S)
        return line, process.returncode

    assert asyncio.run(talk()) == (b"x\n", 0)


def test_the_whole_group_ends_with_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    deaf = f"""sh -c 'trap "" TERM; echo $$ > {pid}; sleep 600; :' & wait"""

    async def end() -> int | None:
        process = await start_async(shell(deaf))
        await begun(pid)
        await end_async(process, grace_s=0.2)
        return process.returncode

    assert asyncio.run(end()) == -signal.SIGTERM
    assert is_gone(pid)


def test_a_task_that_is_cancelled_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    async def cancelled() -> bool:
        task = asyncio.create_task(start_async(shell(f"echo $$ > {tmp_path}/pid; sleep 600")))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())
    pid = tmp_path / "pid"
    assert not (pid.exists() and pid.read_text()) or is_gone(pid)
