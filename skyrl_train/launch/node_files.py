"""Files through which the nodes of a trainer job share the head's address and the state of each node."""

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.job_files import RAY
from skyrl_train.contracts.typed import Fields, FormatError
from skyrl_train.launch.directory import read_object
from skyrl_train.node.ray_cluster import Head

HEAD, HEAD_ENDED, WARNED, TOKEN = "head.json", "head_ended.json", "warned.json", "token"
STARTING, UP, ENDING, ENDED = "starting", "up", "ending", "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """The state of one node. `beat` counts up while the node lives; `signal` means that a signal ended it, not a fault."""

    node: str
    state: str = STARTING
    beat: int = 0
    status: int = 0
    reason: str = ""
    signal: bool = False
    at: float = 0.0


def begin(job_dir: str) -> None:
    """Makes an empty directory with a secret token of this job. The token lets its owner run code on the cluster."""
    path = os.path.join(job_dir, RAY)
    try:
        shutil.rmtree(path, ignore_errors=True)  # files from before a requeue
        os.makedirs(path, mode=0o700, exist_ok=True)
        write_whole(token_path(job_dir), secrets.token_hex(32), mode=0o600)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror}") from None


def token_path(job_dir: str) -> str:
    return os.path.join(job_dir, RAY, TOKEN)


def write_head(job_dir: str, head: Head) -> None:
    _write(job_dir, HEAD, asdict(head))


def read_head(job_dir: str) -> Head | None:
    """The address of the head node, or None until it is known."""
    found = _read(job_dir, HEAD)
    try:
        return Head(found.text("host"), found.integer("port")) if found else None
    except FormatError:
        return None


def head_has_ended(job_dir: str, *, surely: bool = False) -> bool:
    """Whether the head has ended, so that the end of a worker's Ray is no failure.

    `surely` lists the directory: a network file system may cache for a while that a file does not exist.
    """
    path = os.path.join(job_dir, RAY)
    try:
        return HEAD_ENDED in os.listdir(path) if surely else os.path.exists(os.path.join(path, HEAD_ENDED))
    except OSError:
        return False


def write_head_end(job_dir: str, status: int) -> None:
    _write(job_dir, HEAD_ENDED, {"status": status})


def head_ended_well(job_dir: str) -> bool:
    found = _read(job_dir, HEAD_ENDED)
    return found is not None and found.value("status") == 0


def warn(job_dir: str) -> None:
    """Tells the head that the time limit is near. A signal through srun would reach every process and end Ray."""
    _write(job_dir, WARNED, {})


def is_warned(job_dir: str) -> bool:
    return os.path.exists(os.path.join(job_dir, RAY, WARNED))


def missing_path(job_dir: str) -> str:
    """The file in which the wait for the cluster records what is missing."""
    return os.path.join(job_dir, RAY, "missing.txt")


def read_missing(job_dir: str) -> str:
    try:
        with bounded.open_file(missing_path(job_dir)) as file:
            return file.read(1000).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def write_report(job_dir: str, report: NodeReport) -> None:
    _write(job_dir, f"node_{report.node}.json", asdict(report))


def read_reports(job_dir: str, nodes: Iterable[str]) -> dict[str, NodeReport]:
    """The last report of each node, without the nodes that never reported."""
    found = {}
    for node in nodes:
        text = _read(job_dir, f"node_{node}.json")
        with contextlib.suppress(FormatError):
            if text:
                found[node] = _report(text)
    return found


def _report(found: Fields) -> NodeReport:
    return NodeReport(
        node=found.text("node"),
        state=found.text("state"),
        beat=found.integer("beat"),
        status=found.integer("status"),
        reason=found.text("reason"),
        signal=found.flag("signal"),
        at=found.number("at"),
    )


def _write(job_dir: str, name: str, data: Mapping[str, object]) -> None:
    path = os.path.join(job_dir, RAY, name)
    try:
        write_whole(path, json.dumps(data) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _read(job_dir: str, name: str) -> Fields | None:
    return read_object(os.path.join(job_dir, RAY, name))
