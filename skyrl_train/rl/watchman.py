"""Starts the driver, enforces its time limits, and ends all its processes in every case. Imports nothing heavy.

The driver's Ray and vLLM processes leave its process group, so they are found by a variable in their environment.
FIX(TRN006): a hanging driver cannot end itself, so this process does, and names the phase that hung.
"""

import os
import select
import signal
import sys
import time
import uuid
from collections.abc import Callable, Mapping

from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.run_log import say
from skyrl_train.launch.marks import end_marked
from skyrl_train.launch.signals import Signals
from skyrl_train.process import Child, start
from skyrl_train.rl import ray_log
from skyrl_train.rl.phases import END, VARIABLE, Clock

MARK = "SKYRL_TRAIN_RUN"
LATE = 124
"""Exit status of a run that was ended because a phase took too long, as in timeout(1)."""
GRACE_S = 5.0
STACKS_S = 2.0
STEP_S = 0.2
_DIE_WITH_PARENT = """\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() == int(sys.argv[1]): os.execvp(sys.argv[2], sys.argv[2:])
"""
"""PR_SET_PDEATHSIG with SIGKILL: the driver ends if its watchman is killed, and Ray ends with the driver."""


def watch(
    words: list[str],
    environ: Mapping[str, str],
    signals: Signals,
    say: Callable[[str], None],
    *,
    grace_s: float = GRACE_S,
    stacks_s: float = STACKS_S,
) -> int:
    """Runs a driver to its end; its exit status, LATE if it hung, 128 + N if signal N ended it."""
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
        late = _follow(child, reader, signals, clock)
        if late:
            say(late)
            child.send(signal.SIGUSR2)  # it prints the stack of each thread
            child.wait(stacks_s)
    finally:
        child.end(grace_s)
        left = end_marked({MARK: run}, grace_s)
        os.close(reader)
    if left and not (late or signals.stop):
        say(f"ended {amount(len(left), 'process', plural='processes')} left by the driver")
    if late:
        return LATE
    if signals.stop:
        return 128 + signals.stop
    if child.status and END not in clock.limits:
        for line in ray_log.of_driver(environ, child.pid):
            say(f"Ray's log of the driver: {line}")
    return child.status if child.status >= 0 else 128 - child.status


def _follow(child: Child, reader: int, signals: Signals, clock: Clock) -> str:
    """Waits until the driver ends or a stop is requested; the reason if a phase is overdue."""
    rest = b""
    while child.poll() is None and not signals.stop:
        if signals.before_end and not signals.passed_on:
            signals.pass_on(child.pid)
        if select.select([reader], [], [], STEP_S)[0]:
            heard = os.read(reader, 65536)
            if not heard:
                time.sleep(STEP_S)  # the pipe is closed: the driver is about to end
            *lines, rest = (rest + heard).split(b"\n")
            for line in lines:
                clock.hear(line.decode(), time.monotonic())
        late = clock.late(time.monotonic())
        if late:
            return (
                f"TRN006: the phase `{late}` took longer than {clock.limits[late]:g} s (trainer.phase_timeout_s); "
                "the run was ended; the stacks below show where it hung"
            )
    return ""


def main(job_dir: str, work_dir: str, environ: Mapping[str, str]) -> int:
    signals = Signals()
    signals.listen()
    words = [sys.executable, "-u", "-m", "skyrl_train.rl.begin", job_dir, work_dir]
    return watch(words, environ, signals, say)
