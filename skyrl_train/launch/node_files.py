"""What the nodes of a trainer job tell each other: the head's address, and each node its own state while it lives."""

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.job_files import RAY
from skyrl_train.contracts.typed import Fields, FormatError
from skyrl_train.launch.directory import read_object
from skyrl_train.node.ray_cluster import Head

HEAD, HEAD_ENDED, WARNED, TOKEN = "head.json", "head_ended.json", "warned.json", "token"
STARTING, UP, ENDING, ENDED = "starting", "up", "ending", "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """`beat` counts up while the node lives. `signal`: it ends because it was told to, and its reason says nothing."""

    node: str
    state: str = STARTING
    beat: int = 0
    status: int = 0
    reason: str = ""
    signal: bool = False
    at: float = 0.0


def begin(job_dir: str) -> None:
    """An empty directory with a token that only this job has: whoever holds it may run code on the cluster."""
    path = os.path.join(job_dir, RAY)
    try:
        shutil.rmtree(path, ignore_errors=True)  # an earlier turn of a job that was queued again
        os.makedirs(path, mode=0o700, exist_ok=True)
        write_whole(token_path(job_dir), secrets.token_hex(32), mode=0o600)
    except OSError as error:
        raise UsageError(f"cannot write into {path}: {error.strerror}") from None


def token_path(job_dir: str) -> str:
    return os.path.join(job_dir, RAY, TOKEN)


def tell_head(job_dir: str, head: Head) -> None:
    _write(job_dir, HEAD, asdict(head))


def head(job_dir: str) -> Head | None:
    """None until the head has told."""
    found = _read(job_dir, HEAD)
    try:
        return Head(found.text("host"), found.integer("port")) if found else None
    except FormatError:
        return None


def head_has_ended(job_dir: str, *, surely: bool = False) -> bool:
    """Whether the head is through: then a worker's Ray may go without a word.

    `surely` lists the directory, since a network file system may for a while know no file that it has just denied.
    """
    path = os.path.join(job_dir, RAY)
    try:
        return HEAD_ENDED in os.listdir(path) if surely else os.path.exists(os.path.join(path, HEAD_ENDED))
    except OSError:
        return False


def tell_head_ended(job_dir: str, status: int) -> None:
    _write(job_dir, HEAD_ENDED, {"status": status})


def head_ended_well(job_dir: str) -> bool:
    found = _read(job_dir, HEAD_ENDED)
    return found is not None and found.value("status") == 0


def warn(job_dir: str) -> None:
    """For the head: the time limit is near. No signal through srun can say so: it goes to every process, and ends Ray."""
    _write(job_dir, WARNED, {})


def is_warned(job_dir: str) -> bool:
    return os.path.exists(os.path.join(job_dir, RAY, WARNED))


def lacking_path(job_dir: str) -> str:
    """Where the wait for the whole cluster says what it lacks."""
    return os.path.join(job_dir, RAY, "lacking.txt")


def lacking(job_dir: str) -> str:
    try:
        with open(lacking_path(job_dir), encoding="utf-8") as file:
            return file.read(1000).strip()
    except OSError:
        return ""


def tell(job_dir: str, state: NodeState) -> None:
    _write(job_dir, f"node_{state.node}.json", asdict(state))


def states(job_dir: str, nodes: Iterable[str]) -> dict[str, NodeState]:
    """What each node said last; one that never said anything is left out."""
    found = {}
    for node in nodes:
        said = _read(job_dir, f"node_{node}.json")
        with contextlib.suppress(FormatError):
            if said:
                found[node] = _state(said)
    return found


def _state(said: Fields) -> NodeState:
    return NodeState(
        node=said.text("node"),
        state=said.text("state"),
        beat=said.integer("beat"),
        status=said.integer("status"),
        reason=said.text("reason"),
        signal=said.flag("signal"),
        at=said.number("at"),
    )


def _write(job_dir: str, name: str, data: Mapping[str, object]) -> None:
    path = os.path.join(job_dir, RAY, name)
    try:
        write_whole(path, json.dumps(data) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _read(job_dir: str, name: str) -> Fields | None:
    return read_object(os.path.join(job_dir, RAY, name))
