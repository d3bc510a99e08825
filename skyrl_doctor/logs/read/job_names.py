"""Finds Slurm job ids in the names of log files and directories. Most numbers in names are no ids."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

_LAUNCH = re.compile(r"(?:^|/)(runtime|training)_(\d+)\.(?:out|err)$")
_ENDINGS = re.compile(r"(?:\.(?:out|err|log|txt|stdout|stderr))+(?:[.-]\d+)*(?:\.(?:gz|bz2|xz|zst))?$")
_STREAM = re.compile(r"\.(?:out|err|stdout|stderr)(?:\.log)?(?:[.-]\d+)*(?:\.(?:gz|bz2|xz|zst))?$")
"""The endings that jobs give to what Slurm writes. Programs give theirs to other files too, but seldom."""
_ID = r"[1-9]\d{4,7}(?:_\d{1,4})?"
"""A number of fewer digits is rather a seed, a length or a port; only words or other names beside it make it an id."""
_SLURM = re.compile(r"(?:^|[-_.])slurm[-_](\d{1,8}(?:_\d{1,8})?)(?!\d)")
_AFTER_JOB = re.compile(r"(?:^|[-_.])job(?:id)?[-_.]?([1-9]\d{2,7}(?:_\d{1,4})?)$")
_SUBMITIT = re.compile(rf"^({_ID})_\d{{1,4}}_log$")
_DIRECTORY = re.compile(r"(?:slurm|job)?[-_]?([1-9]\d{4,7})$")
_AT_START = re.compile(rf"^({_ID})[-_.]([A-Za-z]*)")
_AT_END = re.compile(rf"(?:^|([A-Za-z]*)[-_.]|^o)({_ID})$")
_COUNTED = re.compile(
    r"(?:worker|port|pid|step|seed|ctx|context|len|length|ckpt|checkpoint|iter|iteration|token|sample|epoch"
    r"|batch|bs|size|max|min|row|line|episode|update)s?",
    re.IGNORECASE,
)
"""Words whose numbers have as many digits as a job id. They may end the names of jobs too."""
_SHORT_AT_END = re.compile(r"([A-Za-z]+)[-_.]([1-9]\d{3})$")
_POWERS_OF_TWO = {"1024", "2048", "4096", "8192"}
_PROCESS = re.compile(
    r"(?:^|[-_.])(?:worker|node|rank|host|pid|gpu|shard|task|proc|part|port|core)s?[-_.]?$", re.IGNORECASE
)
"""Words before a number that tells the processes of one job apart."""
_OF_RAY = re.compile(r"^(?:(?:python-core-|java-core-)?(?:worker|driver|io_worker)-[0-9a-f]{4}|ray_client_server)")
_RAY_SESSION = re.compile(r"(?:^|/)session_(?:\d{4}-\d\d-\d\d_|latest/)")
_OF_PROGRAM = re.compile(r"__|(?:^|[-_.])nccl")
"""Parts of the names of logs that programs number: instances of SWE-bench, and NCCL's file of a process."""
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_TIME = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d[0-5]\d")
_DATE_BEFORE = re.compile(r"(?<!\d)(?:(?:(?:19|20)?\d\d)[-_]?)?(?:0[1-9]|1[0-2])[-_]?(?:[0-2]\d|3[01])[-_T]?$")
_NUMBER = re.compile(r"(?<!\d)[1-9]\d{2,7}(?!\d)")
_PART = re.compile(r"(?<![^-_.])[1-9]\d{3,7}(?![^-_.])")
"""A number that may be an id if another name differs from this one in it alone."""


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
    return found[1] if found and not _DATE.fullmatch(found[1]) else ""


def likely_id(part: str) -> str:
    """The number in the name of a file or directory that has the form and the place of a job id, or none."""
    name = stem(part)
    if id_ := _worded_id(name):
        return id_
    if _OF_RAY.search(name):
        return ""
    for id_, word in _numbers(name):
        if not _is_stamp(name, id_) and not _COUNTED.fullmatch(word):
            return id_
    return ""


def numbers(file: str) -> frozenset[str]:
    """All numbers in the name and the directories of a file: one that a log prints as a job's id is one."""
    return frozenset(_NUMBER.findall(file))


class NamedJobs:
    """The jobs that the names of logs tell apart. `known` are the ids that Slurm gave or printed.

    The number of a .out or .err is an id if it looks like one, or if another name differs from this one in it alone. That of
    any other file or of a directory must do both, and one of the names that differ must have a known id if there are any.
    """

    def __init__(self, files: Iterable[str], known: Set[str]) -> None:
        self._known = known
        self._ids: dict[tuple[str, str], set[str]] = defaultdict(set)
        for path in {path for file in files for path in _own_and_above(file)}:
            for id_ in {likely_id(os.path.basename(path)), *_PART.findall(stem(os.path.basename(path)))} - {""}:
                self._ids[_template(path, id_)].add(id_)

    def of_stream(self, file: str) -> str:
        """The id in the name of a .out or .err, or none."""
        name = os.path.basename(file)
        if not _STREAM.search(name) or _RAY_SESSION.search(file):
            return ""
        differing = (id_ for id_ in self._differing(file) if not _is_stamp(stem(name), id_))
        return likely_id(name) or next(differing, "") or _short_id(stem(name))

    def of_path(self, path: str) -> str:
        """The id in the name of another file, or of a directory, or none."""
        name = stem(os.path.basename(path))
        if _RAY_SESSION.search(path):
            return ""
        if id_ := _worded_id(name):
            return id_
        if (found := _DIRECTORY.match(os.path.basename(path))) and not _DATE.match(found[1]):
            return found[1]
        id_ = likely_id(name)
        if not id_ or _OF_PROGRAM.search(name) or f".{id_}" in name:
            return ""
        ids = self._ids[_template(path, id_)]
        return id_ if len(ids) > 1 and (not self._known or ids & self._known) else ""

    def of_date(self, file: str) -> str:
        """The name without its endings, if other logs differ from it in a date or a time alone, and no log has an id."""
        name = stem(os.path.basename(file))
        is_one = not self._known and any(_is_stamp(name, number) for number in self._differing(file))
        return os.path.join(os.path.dirname(file), name) if is_one else ""

    def _differing(self, file: str) -> list[str]:
        """The numbers, the last first, in which alone another name differs."""
        name = stem(os.path.basename(file))
        if _OF_RAY.search(name) or _RAY_SESSION.search(file):
            return []
        found = [one for one in _PART.finditer(name) if not _PROCESS.search(name[: one.start()])]
        return [one[0] for one in reversed(found) if len(self._ids[_template(file, one[0])]) > 1]


def _own_and_above(file: str) -> list[str]:
    parts = file.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _template(path: str, id_: str) -> tuple[str, str]:
    """The directory, and the name without its endings and the id."""
    where, name = os.path.split(path)
    before, _, after = stem(name).rpartition(id_)
    return where, f"{before}\0{after}"


def _worded_id(name: str) -> str:
    """The id after the word slurm or job, or in the form that submitit writes."""
    found = _SLURM.search(name) or _AFTER_JOB.search(name) or _SUBMITIT.search(name)
    return found[1] if found and not _DATE.fullmatch(found[1]) else ""


def _short_id(name: str) -> str:
    """The last number of a name that is as long as the ids of small clusters, unless it counts something else."""
    found = _SHORT_AT_END.search(name)
    if not found or _COUNTED.fullmatch(found[1]) or _PROCESS.search(name[: found.start(2)]) or _OF_RAY.search(name):
        return ""
    return "" if found[2] in _POWERS_OF_TWO else found[2]


def _is_stamp(name: str, number: str) -> bool:
    """Whether the number is a date, or a time of day after a date."""
    before = name[: name.rfind(number)]
    return bool(_DATE.match(number) or (_TIME.fullmatch(number) and _DATE_BEFORE.search(before)))


def _numbers(name: str) -> Iterator[tuple[str, str]]:
    """A number at either end of the name, and the word beside it."""
    if found := _AT_END.search(name):
        yield found[2], found[1] or ""
    if found := _AT_START.search(name):
        yield found[1], found[2]
