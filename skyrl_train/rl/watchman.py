"""Starts the driver, watches its clock, and leaves nothing of it behind on any way out. Imports nothing that is heavy.

The driver's own Ray and vLLM processes leave its process group, so that they are found by a variable of their
environment. A driver that hangs cannot end itself: FIX(TRN006), this process does, and names the phase that hung.
"""

import os
import select
import signal
import sys
import time
import uuid
from collections.abc import Callable, Mapping

from skyrl_train.contracts.run_log import say
from skyrl_train.launch.marks import end_marked
from skyrl_train.launch.signals import Signals
from skyrl_train.process import Child, start
from skyrl_train.rl import ray_log
from skyrl_train.rl.phases import END, VARIABLE, Clock

MARK = "SKYRL_TRAIN_RUN"
LATE = 124
"""Exit status of a run that was ended since a phase took too long, as `timeout` has it."""
GRACE_S = 5.0
STACKS_S = 2.0
STEP_S = 0.2
_DIE_WITH_PARENT = """\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() == int(sys.argv[1]): os.execvp(sys.argv[2], sys.argv[2:])
"""
"""PR_SET_PDEATHSIG, SIGKILL: a driver whose watchman was killed has nobody to end it. Ray ends with its driver."""


def watch(
    words: list[str],
    environ: Mapping[str, str],
    told: Signals,
    say: Callable[[str], None],
    *,
    grace_s: float = GRACE_S,
    stacks_s: float = STACKS_S,
) -> int:
    """Runs a driver to its end; its exit status, LATE where it hung, 128 + N where a signal ended it."""
    reader, writer = os.pipe()
    run = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
    child = start(
        [sys.executable, "-IS", "-c", _DIE_WITH_PARENT, str(os.getpid()), *words],
        env={**environ, VARIABLE: str(writer), MARK: run},
        pass_fds=(writer,),
    )
    os.close(writer)
    os.set_blocking(reader, False)
    clock = Clock()
    try:
        late = _follow(child, reader, told, clock)
        if late:
            say(late)
            child.send(signal.SIGUSR2)  # it writes where each of its threads stands
            child.wait(stacks_s)
    finally:
        child.end(grace_s)
        left = end_marked({MARK: run}, grace_s)
        os.close(reader)
    if left and not (late or told.stop):
        say(f"ended {len(left)} processes that the driver had left")
    if late:
        return LATE
    if told.stop:
        return 128 + told.stop
    if child.status and END not in clock.limits:
        for line in ray_log.of_driver(environ, child.pid):
            say(f"Ray's log of the driver: {line}")
    return child.status if child.status >= 0 else 128 - child.status


def _follow(child: Child, reader: int, told: Signals, clock: Clock) -> str:
    """Until the driver ends or is told to; why it is late, where it is."""
    rest = b""
    while child.poll() is None and not told.stop:
        if told.before_end and not told.passed_on:
            told.pass_on(child.pid)
        if select.select([reader], [], [], STEP_S)[0]:
            heard = os.read(reader, 65536)
            if not heard:
                time.sleep(STEP_S)  # the pipe is closed, and the driver about to end
            *lines, rest = (rest + heard).split(b"\n")
            for line in lines:
                clock.hear(line.decode(), time.monotonic())
        late = clock.late(time.monotonic())
        if late:
            return (
                f"TRN006: the phase `{late}` took longer than {clock.limits[late]:g} s (trainer.phase_timeout_s); "
                "the run is ended, where it hung is shown below"
            )
    return ""


def main(job_dir: str, work_dir: str, environ: Mapping[str, str]) -> int:
    told = Signals()
    told.listen()
    words = [sys.executable, "-u", "-m", "skyrl_train.rl.driver", job_dir, work_dir]
    return watch(words, environ, told, say)
