"""The job directory: on a disk that both jobs see, and all that they tell each other."""

import contextlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.job_files import COMPLETE, READY, URL, one_url
from skyrl_train.contracts.typed import Fields, FormatError, parse_object
from skyrl_train.launch.role import Role

CONFIG, RESOLVED, JOBS = "config.toml", "config.json", "jobs.json"
NONE = ""
"""In the place of a job's id: there was one, and another is to come."""
URL_BYTES = 4096
_MOST_BYTES = 4 << 20
_OF_THIS_LAUNCH = (
    "wanted a directory of this launch alone: leave --job-dir out, or name a new one; the earlier one stays as it is"
)
_JOB_ID = re.compile(r"(?:local:)?[0-9]{1,18}")  # Slurm's, or a process here


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended, told by its supervisor. `reason` is for a person; empty where all went well."""

    status: int
    reason: str
    at: float

    @property
    def why(self) -> str:
        """Of one that failed."""
        return self.reason or f"exit status {self.status}"


def create(root: str, now: datetime) -> str:
    """A new directory for one launch. UsageError where there is no room for it."""
    stamp = f"{now:%Y%m%d_%H%M%S}"
    for number in range(100):
        path = os.path.join(os.path.abspath(root), f"{stamp}{f'_{number}' if number else ''}_launch")
        try:
            os.makedirs(path, mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise UsageError(f"no job directory can be made in {root}: {error.strerror}; say --job-dir DIR") from None
        return path
    raise UsageError(f"{root} holds a hundred launches of {stamp} already")


def adopt(path: str) -> str:
    """A directory that the user names: new or empty of any launch."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        taken = sorted({RESOLVED, JOBS, COMPLETE, READY, URL} & set(os.listdir(path)))
    except OSError as error:
        raise UsageError(f"the job directory {path} cannot be used: {error.strerror}") from None
    if READY in taken:  # FIX(SLM004): the trainer would go to a runtime that is gone
        raise UsageError(
            f"SLM004: {path} holds {READY} of an earlier launch, which names its runtime; {_OF_THIS_LAUNCH}"
        )
    if taken:
        raise UsageError(f"{path} holds {taken[0]} of an earlier launch; {_OF_THIS_LAUNCH}")
    return os.path.abspath(path)


@contextmanager
def unless_in_vain(job_dir: str, *, new: bool) -> Iterator[None]:
    """A launch that comes to nothing leaves its directory as it was. Once a job was submitted, it stays and tells of it."""
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
    """The youngest launch below a root."""
    try:
        names = [name for name in os.listdir(root) if name.endswith("_launch")]
    except OSError as error:
        raise UsageError(f"no launches in {root}: {error.strerror}; name a job directory") from None
    if not names:
        raise UsageError(f"no launches in {root}; name a job directory")
    return os.path.join(root, max(names, key=lambda name: [int(digits) for digits in re.findall("[0-9]+", name)]))


def log(role: Role, job_id: str, stream: str) -> str:
    """`%j` is Slurm's own word for the id."""
    return f"{role.log_name}_{job_id}.{stream}"


def write(job_dir: str, name: str, text: str, *, mode: int = 0o644) -> None:
    """UsageError where the disk is full or read-only: nothing may be submitted then."""
    try:
        write_whole(os.path.join(job_dir, name), text, mode=mode)
    except OSError as error:
        raise UsageError(f"cannot write {os.path.join(job_dir, name)}: {error.strerror}") from None


def write_jobs(job_dir: str, jobs: Mapping[str, str]) -> None:
    write(job_dir, JOBS, json.dumps(dict(jobs), indent=2) + "\n")


def read_jobs(job_dir: str) -> dict[str, str]:
    """The ids of the jobs by role, as far as they were submitted. Nothing but an id may reach scancel."""
    found = read_object(os.path.join(job_dir, JOBS))
    ids = {str(role): str(found.value(role)) for role in Role} if found is not None else {}
    return {role: job_id for role, job_id in ids.items() if _JOB_ID.fullmatch(job_id)}


def is_superseded(job_dir: str, role: Role, job_id: str) -> bool:
    """Whether another job of this role came after this one. The first may run before its id is written."""
    found = read_object(os.path.join(job_dir, JOBS))
    return bool(job_id) and found is not None and role in found and str(found.value(role)) != job_id


def ended_name(role: Role) -> str:
    return f"{role}_ended.json"


def forget(job_dir: str, name: str) -> None:
    """A file of a turn that is over, before the next one."""
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
    """The runtime's address. None while it is not ready; UsageError where the file holds anything but one URL."""
    if not os.path.exists(os.path.join(job_dir, READY)):
        return None
    path = os.path.join(job_dir, URL)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path} is no file")
            text = file.read(URL_BYTES)
    except FileNotFoundError:
        raise UsageError(f"{READY} is there and {URL} is not: the runtime's start was cut short") from None
    url = one_url(text)
    if url is None:
        raise UsageError(f"{path} holds {text[:120]!r}; wanted one URL alone: something printed into it")
    return url


def read_object(path: str) -> Fields | None:
    """The JSON object in a file of the job; None where there is none, or half of one."""
    try:
        with open(path, "rb") as file:
            return parse_object(file.read(_MOST_BYTES + 1), os.path.basename(path), most_bytes=_MOST_BYTES)
    except (OSError, FormatError):
        return None
