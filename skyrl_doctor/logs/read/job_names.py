"""Finds Slurm job ids in the names of log files and directories. Most numbers in names are no ids."""

import re
from collections.abc import Iterator

_LAUNCH = re.compile(r"(?:^|/)(runtime|training)_(\d+)\.(?:out|err)$")
_ENDINGS = re.compile(r"(?:\.(?:out|err|log|txt|stdout|stderr))+(?:[.-]\d+)*(?:\.(?:gz|bz2|xz|zst))?$")
_ID = r"[1-9]\d{4,7}(?:_\d{1,4})?"
"""A number of fewer digits is rather a seed, a length or a port; only words beside it make it an id."""
_SLURM = re.compile(r"(?:^|[-_.])slurm[-_]?(\d{1,8}(?:_\d{1,8})?)(?!\d)")
_AFTER_JOB = re.compile(r"(?:^|[-_.])job(?:id)?[-_.]?([1-9]\d{2,7}(?:_\d{1,4})?)$")
_SUBMITIT = re.compile(rf"^({_ID})_\d{{1,4}}_log$")
_AT_START = re.compile(rf"^({_ID})[-_.]([A-Za-z]*)")
_AT_END = re.compile(rf"(?:^|([A-Za-z]*)[-_.]|^o)({_ID})$")
_COUNTED = re.compile(
    r"(?:worker|server|agent|port|pid|step|seed|ctx|context|len|length|ckpt|checkpoint|iter|iteration|token|sample|epoch"
    r"|batch|bs|size|max|min|row|line|episode|update)s?",
    re.IGNORECASE,
)
"""Words whose numbers have as many digits as a job id."""
_OF_RAY = re.compile(r"^(?:python-core-|java-core-)?(?:worker|driver|io_worker)-[0-9a-f]{4}")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_TIME_DIGITS = 6
"""A time of day such as 153012, beside a date."""
_NUMBER = re.compile(r"(?<!\d)[1-9]\d{2,7}(?!\d)")


def launch_role(file: str) -> tuple[str, str] | None:
    """The role and the job id in a name that a launch of skyrl-train gives to logs; others may use such names too."""
    found = _LAUNCH.search(file)
    return (found[1], found[2]) if found else None


def stem(name: str) -> str:
    """The name without the endings of logs: a job's .out and .err have one stem."""
    return _ENDINGS.sub("", name)


def certain_id(file: str) -> str:
    """The id in a name that only Slurm gives, such as slurm-81230.out, or none."""
    found = _SLURM.search(stem(file.rpartition("/")[2]))
    return found[1] if found else ""


def likely_id(part: str) -> str:
    """The number in the name of a file or directory that has the form and the place of a job id, or none."""
    name = stem(part)
    if found := _SLURM.search(name) or _AFTER_JOB.search(name) or _SUBMITIT.search(name):
        return found[1]
    if _OF_RAY.search(name):
        return ""
    for id_, word in _numbers(name):
        is_time = len(id_) == _TIME_DIGITS and _DATE.search(name)
        if not _DATE.match(id_) and not is_time and not _COUNTED.fullmatch(word):
            return id_
    return ""


def numbers(file: str) -> frozenset[str]:
    """All numbers in the name and the directories of a file: one that a log prints as a job's id is one."""
    return frozenset(_NUMBER.findall(file))


def _numbers(name: str) -> Iterator[tuple[str, str]]:
    """A number at either end of the name, and the word beside it."""
    if found := _AT_END.search(name):
        yield found[2], found[1] or ""
    if found := _AT_START.search(name):
        yield found[1], found[2]
