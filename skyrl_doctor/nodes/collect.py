"""Runs the doctor on every node of the allocation, one task each, and reads the reports."""

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.process import Child
from skyrl_doctor.nodes.clock import serve_time
from skyrl_doctor.nodes.node_report import NodeResult, NoReport, read
from skyrl_train.contracts import bounded
from skyrl_train.node.hostlist import NotAHostlist, expand

MOST_BYTES = 8 << 20
_FINISH_S, _END_S = 10.0, 5.0


@record(kw_only=True)
class Round:
    """One examination of all nodes. `step` is the command that starts the tasks, `words` the doctor's arguments."""

    nodes: tuple[str, ...]
    directory: str
    step: tuple[str, ...]
    words: tuple[str, ...]
    limit_s: float
    ports: tuple[int, ...] = ()
    """Ports for the clock: those of Ray's head, so that the same ports are tested."""


def allocated_nodes(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The nodes of this Slurm job. Raises UsageError."""
    text = environ.get("SLURM_JOB_NODELIST", "")
    try:
        nodes = expand(text)
    except NotAHostlist as error:
        raise UsageError(f"SLURM_JOB_NODELIST: {error}") from None
    if not nodes:
        raise UsageError("--nodes needs a Slurm job, but SLURM_JOB_NODELIST is empty; run it inside a job")
    return nodes


def default_step(count: int) -> tuple[str, ...]:
    counts = (f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1")
    return ("srun", "--export=ALL", *counts, "--kill-on-bad-exit=0", "--wait=0")


def report_path(directory: str, node: str) -> str:
    return os.path.join(directory, f"{node}.json")


def collect(one: Round) -> dict[str, NodeResult]:
    """The report of every node, or the reason why it has none."""
    try:
        os.makedirs(one.directory, exist_ok=True)
        for node in one.nodes:
            _remove(report_path(one.directory, node))
    except OSError as error:
        raise UsageError(f"cannot use --node-dir {one.directory}: {error.strerror}") from None
    with serve_time(one.ports) as port:
        reason = _run(one, port)
    return {node: _read_report(one.directory, node, reason) for node in one.nodes}


def _run(one: Round, port: int) -> str:
    """Runs the step until its end or the limit. Returns the reason for nodes that wrote no report."""
    words = (
        *one.step,
        sys.executable,
        "-m",
        "skyrl_doctor",
        *one.words,
        "--node-report",
        one.directory,
        "--clock",
        str(port),
    )
    try:
        child = Child(words)
    except OSError as error:
        raise UsageError(f"cannot run {one.step[0]}: {error.strerror}") from None
    in_time = False
    try:
        in_time = child.wait(one.limit_s, until=lambda: _all_reported(one))
    finally:
        # A step that has written everything may finish: srun kills its tasks on SIGTERM, and they may have to clean up.
        status = child.end(finish_s=_FINISH_S if in_time else 0.0, grace_s=_END_S)
    if not in_time:
        return f"no report within {one.limit_s:g} s"
    return f"its task wrote no report ({one.step[0]} exited with status {status})"


def _all_reported(one: Round) -> bool:
    return all(os.path.exists(report_path(one.directory, node)) for node in one.nodes)


def _read_report(directory: str, node: str, reason: str) -> NodeResult:
    try:
        with bounded.open_file(report_path(directory, node)) as file:
            return read(file.read(MOST_BYTES).decode("utf-8", "replace"), node)
    except FileNotFoundError:
        return NoReport(reason)
    except OSError as error:
        return NoReport(f"its report cannot be read: {error.strerror}")
    except CouldNotLook as error:
        return NoReport(f"its report is damaged: {error}")


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def write_lists(directory: str, states: Mapping[str, Sequence[str]]) -> None:
    """Writes nodes_passing.txt and so on: one name per line, as `sbatch --exclude` reads it."""
    from skyrl_train.contracts.files import write_whole

    for state, names in states.items():
        try:
            write_whole(os.path.join(directory, f"nodes_{state}.txt"), "".join(f"{name}\n" for name in names))
        except OSError as error:
            raise UsageError(f"cannot write the lists of nodes into {directory}: {error.strerror}") from None
