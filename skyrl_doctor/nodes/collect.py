"""Runs the doctor on every node of the allocation, one task each, and reads what they wrote. A silent node is a Silence."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.nodes.clock import telling
from skyrl_doctor.nodes.letter import Answer, Silence, read
from skyrl_train.node.hostlist import NotAHostlist, expand

MOST_BYTES = 8 << 20
_STEP_S = 0.05
_FINISH_S, _END_S = 10.0, 5.0


@record(kw_only=True)
class Round:
    """One look at all nodes. `step` is the command line to which the doctor's words for one node are added."""

    nodes: tuple[str, ...]
    directory: str
    step: tuple[str, ...]
    words: tuple[str, ...]
    limit_s: float
    ports: tuple[int, ...] = ()
    """Where to tell the time: at a port at which Ray's head will be, if it is free."""


def allocated(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The nodes of this Slurm job."""
    text = environ.get("SLURM_JOB_NODELIST", "")
    try:
        nodes = expand(text)
    except NotAHostlist as error:
        raise UsageError(f"SLURM_JOB_NODELIST: {error}") from None
    if not nodes:
        raise UsageError(
            "--nodes looks at the nodes of a Slurm job, and SLURM_JOB_NODELIST names none: run it in a job"
        )
    return nodes


def default_step(count: int) -> tuple[str, ...]:
    counts = (f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1")
    return ("srun", "--export=ALL", *counts, "--kill-on-bad-exit=0", "--wait=0")


def letter_path(directory: str, node: str) -> str:
    return os.path.join(directory, f"{node}.json")


def collect(one: Round) -> dict[str, Answer]:
    """What every node says, within the limit."""
    try:
        os.makedirs(one.directory, exist_ok=True)
        for node in one.nodes:
            _remove(letter_path(one.directory, node))
    except OSError as error:
        raise UsageError(f"--node-dir {one.directory} cannot be used: {error.strerror}") from None
    with telling(one.ports) as port:
        how = _run(one, port)
    return {node: _answer(one.directory, node, how) for node in one.nodes}


def _run(one: Round, port: int) -> str:
    """Runs the step to its end or to the limit; what became of it, for the nodes that wrote nothing."""
    words = (
        *one.step,
        sys.executable,
        "-m",
        "skyrl_doctor",
        *one.words,
        "--letter",
        one.directory,
        "--clock",
        str(port),
    )
    try:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        raise UsageError(f"{one.step[0]} cannot be run: {error.strerror}") from None
    over = True
    try:
        over = _until(one, child)
    finally:
        _end(child, 0.0 if over else _FINISH_S)
    if over:
        return f"no answer within {one.limit_s:g} s"
    return f"its task wrote nothing ({one.step[0]} ended with {child.returncode})"


def _until(one: Round, child: "subprocess.Popen[bytes]") -> bool:
    """Whether the time was over. All letters are the end too, whatever the step still waits for."""
    end = time.monotonic() + one.limit_s
    while child.poll() is None and not all(os.path.exists(letter_path(one.directory, node)) for node in one.nodes):
        if time.monotonic() >= end:
            return True
        time.sleep(_STEP_S)
    return False


def _end(child: "subprocess.Popen[bytes]", finish_s: float) -> None:
    """Once all is said it may finish by itself: srun that is told to end kills its tasks, which may have something to clear."""
    for number, limit_s in ((0, finish_s), (signal.SIGTERM, _END_S), (signal.SIGKILL, _END_S)):
        if child.poll() is not None:
            return
        if number:
            os.killpg(child.pid, number)
        try:
            child.wait(limit_s)
        except subprocess.TimeoutExpired:
            continue


def _answer(directory: str, node: str, how: str) -> Answer:
    try:
        with open(letter_path(directory, node), encoding="utf-8", errors="replace") as file:
            return read(file.read(MOST_BYTES), node)
    except FileNotFoundError:
        return Silence(how)
    except OSError as error:
        return Silence(f"its report cannot be read: {error.strerror}")
    except CouldNotLook as error:
        return Silence(f"its report is damaged: {error}")


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def write_lists(directory: str, states: Mapping[str, Sequence[str]]) -> None:
    """nodes_passing.txt and its kin: one name a line, as sbatch --exclude takes a file."""
    from skyrl_train.contracts.files import write_whole

    for state, names in states.items():
        try:
            write_whole(os.path.join(directory, f"nodes_{state}.txt"), "".join(f"{name}\n" for name in names))
        except OSError as error:
            raise UsageError(f"cannot write the lists of nodes into {directory}: {error.strerror}") from None
