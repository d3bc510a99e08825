"""Finds the Slurm job that wrote a log: by the file's name or directory, or else by the ids in its first lines."""

import re

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.read.blocks import Block

LIMIT = 1 << 18
"""The first bytes of a log, in which a job names itself."""
_OWN_LAUNCH = re.compile(r"(?:^|/)(?:runtime|training)_\d+\.(?:out|err)$")
_DEFAULT = re.compile(r"slurm-(\d{1,8}(?:_\d{1,8})?)\D")
_SUFFIX = re.compile(r"(?:^|[-_.]|job)([1-9]\d{3,7}(?:_\d{1,8})?)\.(?:out|err)$")
_COUNTED = re.compile(
    r"(?:worker|node|rank|host|pid|gpu|step|shard|task|proc|part|port|core)[\w-]*?[-_.]?\d+\.(?:out|err)$"
)
"""Names whose number is no job's, such as those of Ray's workers."""
_DIRECTORY = re.compile(r"(?:slurm|job)?[-_]?([1-9]\d{4,7})$")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_SAID = re.compile(
    rb"\bSLURM_JOB_?ID['\"]?\s{0,3}[=:]\s{0,3}['\"]?([1-9]\d{0,7})\b|\*\*\* (?:JOB|STEP) ([1-9]\d{0,7})\b|\bStepId=([1-9]\d{0,7})\b"
    rb"|\bsrun: job ([1-9]\d{0,7}) |(?i:\bslurm job(?: ?id)?[ :=#]{1,3}([1-9]\d{0,7})\b)"
)
_CONTINUED = re.compile(
    rb"(?i)\b(?:requeue|resubmit|re-submit|restart|resum|continu)\w{0,6}\b[^\n]{0,60}?\bjob(?:[ _]?id)?[ :=#]{1,3}([1-9]\d{0,7})\b"
)


@record
class SlurmJob:
    """`id` is empty where the log names no job, or several. `continues` are the jobs that it says it continues."""

    id: str = ""
    continues: frozenset[str] = frozenset()


class SlurmJobMarks:
    """Collects what the first blocks of a file say of its job."""

    def __init__(self, file: str) -> None:
        self._named = _in_name(file)
        self._said: set[str] = set()
        self._continued: set[str] = set()

    def add_block(self, block: Block) -> None:
        if block.start >= LIMIT:
            return
        text = block.data[: LIMIT - block.start]
        self._said |= {next(filter(None, found.groups())).decode() for found in _SAID.finditer(text)}
        self._continued |= {found[1].decode() for found in _CONTINUED.finditer(text)}

    def job(self) -> SlurmJob:
        named = self._named or (next(iter(self._said)) if len(self._said) == 1 else "")
        return SlurmJob(named, frozenset(self._continued) - {named})


def is_of_own_launch(file: str) -> bool:
    """Whether a launch of skyrl-train named the file. Its two jobs, and all other logs of its directory, are one run."""
    return _OWN_LAUNCH.search(file) is not None


def newest_first(jobs: list[str]) -> list[str]:
    """The ids, the highest first, and last the logs without one. A task of an array comes after those with a higher number."""
    return sorted(jobs, key=lambda job: [int(part) for part in job.split("_") if part], reverse=True)


def _in_name(file: str) -> str:
    *directories, name = file.split("/")
    if found := _DEFAULT.match(name):
        return found[1]
    if (found := _SUFFIX.search(name)) and not _COUNTED.search(name) and not _DATE.search(name):
        return found[1]
    ids = (
        found[1] for part in reversed(directories) if (found := _DIRECTORY.match(part)) and not _DATE.match(found[1])
    )
    return next(ids, "")
