"""The job directory: files on a shared disk through which the two jobs of a launch exchange their state."""

import contextlib
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime

from skyrl_train.contracts import bounded, job_files
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.job_files import COMPLETE, READY, URL, one_url
from skyrl_train.contracts.typed import Fields, FormatError, parse_object
from skyrl_train.launch.role import Role

CONFIG, RESOLVED, JOBS = job_files.CONFIG, "config.json", "jobs.json"
LOCAL = "local"
"""Stands for a job id in the log names of a launch without Slurm."""
NONE = ""
"""Written instead of a job id while a new job replaces the old one."""
URL_BYTES = 4096
_MOST_BYTES = 4 << 20
_OF_THIS_LAUNCH = "each launch needs a directory of its own: leave out --job-dir or name a new directory"
_JOB_ID = re.compile(r"(?:local:)?[0-9]{1,18}")  # a Slurm job, or a local process


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended, as its supervisor recorded it. `reason` is text for the user, empty after a success."""

    status: int
    reason: str
    at: float

    @property
    def why(self) -> str:
        """The reason of a failure, or the exit status if no reason was recorded."""
        return self.reason or f"exit status {self.status}"


def create(root: str, now: datetime) -> str:
    """Makes a new directory for one launch. UsageError if it cannot be made."""
    stamp = f"{now:%Y%m%d_%H%M%S}"
    for number in range(100):
        path = os.path.join(os.path.abspath(root), f"{stamp}{f'_{number}' if number else ''}_launch")
        try:
            os.makedirs(path, mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise UsageError(f"cannot make a job directory in {root}: {error.strerror}; pass --job-dir DIR") from None
        return path
    raise UsageError(f"{root} already holds 100 launches of {stamp}; pass --job-dir DIR")


def adopt(path: str) -> str:
    """Makes or takes the directory that the user names. UsageError if it holds an earlier launch."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the job directory {path} cannot be used: {error.strerror}") from None
    refuse_taken(path)
    return os.path.abspath(path)


def refuse_taken(path: str) -> None:
    """UsageError if the directory holds an earlier launch or cannot be read. One that does not exist is free."""
    try:
        taken = sorted({RESOLVED, JOBS, COMPLETE, READY, URL} & set(os.listdir(path)))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"the job directory {path} cannot be used: {error.strerror}") from None
    if READY in taken:  # FIX(SLM004): the trainer would connect to a runtime that has ended
        raise UsageError(
            f"SLM004: {path} holds {READY} of an earlier launch, which names its runtime; {_OF_THIS_LAUNCH}"
        )
    if taken:
        raise UsageError(f"{path} holds {taken[0]} of an earlier launch; {_OF_THIS_LAUNCH}")


@contextmanager
def unless_in_vain(job_dir: str, *, new: bool) -> Iterator[None]:
    """Removes the files of a launch that failed before a job was submitted."""
    before = set(os.listdir(job_dir))
    try:
        yield
    except BaseException:
        if not os.path.exists(os.path.join(job_dir, JOBS)):
            _take_away(job_dir, set(os.listdir(job_dir)) - before, new=new)
        raise


def _take_away(job_dir: str, names: Collection[str], *, new: bool) -> None:
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(job_dir, name))
    if new:
        with contextlib.suppress(OSError):
            os.rmdir(job_dir)


def latest(root: str) -> str:
    """The newest launch below a root."""
    try:
        names = [name for name in os.listdir(root) if name.endswith("_launch")]
    except OSError as error:
        raise UsageError(f"no launch found: {root}: {error.strerror}; name a job directory") from None
    if not names:
        raise UsageError(f"no launch found in {root}; name a job directory")
    return os.path.join(root, max(names, key=lambda name: [int(digits) for digits in re.findall("[0-9]+", name)]))


def log(role: Role, job_id: str, stream: str) -> str:
    """The name of a job's log file. Slurm replaces `%j` as the job id."""
    return f"{role.log_name}_{job_id}.{stream}"


def write(job_dir: str, name: str, text: str, *, mode: int = 0o644) -> None:
    """Writes a file. UsageError if the disk is full or read-only, since no job may be submitted then."""
    try:
        write_whole(os.path.join(job_dir, name), text, mode=mode)
    except OSError as error:
        raise UsageError(f"cannot write {os.path.join(job_dir, name)}: {error.strerror}") from None


def write_jobs(job_dir: str, jobs: Mapping[str, str]) -> None:
    write(job_dir, JOBS, json.dumps(dict(jobs), indent=2) + "\n")


def read_jobs(job_dir: str) -> dict[str, str]:
    """The ids of the submitted jobs by role. Anything that is not an id is dropped, so that it cannot reach scancel."""
    found = read_object(os.path.join(job_dir, JOBS))
    ids = {str(role): str(found.value(role)) for role in Role} if found is not None else {}
    return {role: job_id for role, job_id in ids.items() if _JOB_ID.fullmatch(job_id)}


def is_superseded(job_dir: str, role: Role, job_id: str) -> bool:
    """Whether another job of this role replaced this one. A first job may run before its id is written."""
    found = read_object(os.path.join(job_dir, JOBS))
    return bool(job_id) and found is not None and role in found and str(found.value(role)) != job_id


def ended_name(role: Role) -> str:
    return f"{role}_ended.json"


def forget(job_dir: str, name: str) -> None:
    """Removes a file of the run before a restart."""
    try:
        os.unlink(os.path.join(job_dir, name))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageError(f"cannot remove {os.path.join(job_dir, name)}: {error.strerror}") from None


def write_ended(job_dir: str, role: Role, ended: Ended) -> None:
    write(job_dir, ended_name(role), json.dumps(asdict(ended)) + "\n")


def read_ended(job_dir: str, role: Role) -> Ended | None:
    found = read_object(os.path.join(job_dir, ended_name(role)))
    try:
        return Ended(found.integer("status"), found.text("reason"), found.number("at")) if found else None
    except FormatError:
        return Ended(1, f"{ended_name(role)} is damaged", 0.0)


def runtime_url(job_dir: str) -> str | None:
    """The runtime's address, or None while it is not ready. UsageError if the file does not hold exactly one URL."""
    if not os.path.exists(os.path.join(job_dir, READY)):
        return None
    path = os.path.join(job_dir, URL)
    try:
        with bounded.open_file(path) as file:
            text = file.read(URL_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        raise UsageError(f"{READY} exists but {URL} is missing: the runtime was stopped during its start") from None
    except OSError as error:
        raise UsageError(f"{path} is not a regular file: {error.strerror}") from None
    url = one_url(text)
    if url is None:
        raise UsageError(
            f"{path} holds {text[:120]!r}; expected one URL and nothing else: some program printed into this file"
        )
    return url


def read_object(path: str) -> Fields | None:
    """The JSON object in a file of the job; None where there is none, or half of one."""
    try:
        with bounded.open_file(path) as file:
            return parse_object(file.read(_MOST_BYTES + 1), os.path.basename(path), most_bytes=_MOST_BYTES)
    except (OSError, FormatError):
        return None
