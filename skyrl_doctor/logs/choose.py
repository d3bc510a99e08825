"""Which of the hits is the cause: the earliest root over all files of a job that the run did not outlive.

What matched nothing is not forced to.
"""

import dataclasses
import re
from collections.abc import Iterable, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.clusters import Cluster
from skyrl_doctor.logs.known import Known
from skyrl_doctor.logs.lines import Line
from skyrl_doctor.logs.scan import Hit, Mark, Scan
from skyrl_doctor.logs.suspects import OUTLIVED

OFTEN = 5
"""What happens so often is no accident that a run outlives, even if it goes on."""
TOGETHER = 12
"""Lines that are so near to each other tell of one error."""

_COMPONENTS = (
    re.compile(r"runtime|sandbox|podman|agent.?server|api_server", re.IGNORECASE),
    re.compile(r"vllm|inference|engine", re.IGNORECASE),
    re.compile(r"raylet|worker|gcs_server|ray", re.IGNORECASE),
)
"""Whose logs hold the cause where no clock tells: what others depend on comes first."""


@record(kw_only=True)
class Diagnosis:
    """The cause, all that was found in its order, and where nothing known was found, the first that looks wrong.

    cluster   the lines like the unknown one, in its file
    outlived  what happened and ended nothing: the run came to its end, or further steps ended
    """

    root: Hit | None
    matches: tuple[Hit, ...]
    others: tuple[Hit, ...] = ()
    unknown: Line | None = None
    cluster: Cluster | None = None
    outlived: tuple[Hit, ...] = ()
    done: Line | None = None


def choose(scans: Sequence[Scan]) -> Diagnosis:
    done = next((scan.done for scan in reversed(scans) if scan.done is not None), None)
    hits = _demoted([hit for scan in scans for hit in scan.hits])
    counts = {(scan.file, entry): count for scan in scans for entry, count in scan.counts.items()}
    roots = [hit for hit in hits if hit.known.signature.role is Part.ROOT and _often(hit, counts)]
    past = [hit for hit in roots if hit.known.signature.fatal and _survived(hit.line, done)]
    past += [
        hit for hit in roots if hit.known.signature.fatal and done is None and _outlived(hit, roots, scans, counts)
    ]
    left = {id(hit) for hit in past}
    roots = [hit for hit in roots if id(hit) not in left]
    ordered = _in_time(roots)
    fatal = [hit for hit in ordered if hit.known.signature.fatal]
    suspect, cluster = _suspect(scans, done, bare=not ordered)
    matches = tuple(_first_of_each(_in_time(_without_weak_roots(hits, roots))))
    found = Diagnosis(root=None, matches=matches, outlived=tuple(_first_of_each(_in_time(past))), done=done)
    if not fatal and suspect is not None:
        return dataclasses.replace(found, unknown=suspect, cluster=cluster)
    root = next(iter(fatal or ordered), None)
    others = tuple(_first_of_each(hit for hit in ordered if root and hit.known.name != root.known.name))
    return dataclasses.replace(found, root=root, others=others)


def _often(hit: Hit, counts: dict[tuple[str, Known], int]) -> bool:
    return counts.get((hit.line.file, hit.known), 0) >= hit.known.signature.at_least


def _survived(line: Line, done: Line | None) -> bool:
    """Whether the run came to its end after this line."""
    if done is None:
        return False
    if line.file == done.file:
        return line.number < done.number
    return line.clock is None or done.clock is None or line.clock <= done.clock


def _outlived(hit: Hit, roots: Sequence[Hit], scans: Sequence[Scan], counts: dict[tuple[str, Known], int]) -> bool:
    """Whether it happened a few times and so many steps have ended since the last."""
    if counts[hit.line.file, hit.known] >= OFTEN:
        return False
    last = max((one.line for one in roots if one.known == hit.known), key=lambda line: (line.order, line.number))
    return any(len(scan.steps) == OUTLIVED and _before(last, scan.file, scan.steps[0]) for scan in scans)


def _before(line: Line, file: str, mark: Mark) -> bool:
    if line.file == file:
        return line.number < mark.number
    return line.clock is not None and mark.clock is not None and line.clock < mark.clock


def _demoted(hits: list[Hit]) -> list[Hit]:
    """Without the hits that another signature shows more exactly in the same lines."""
    exact = [(name, hit.line) for hit in hits for name in hit.known.signature.refines]
    return [hit for hit in hits if not any(_same_error(hit, name, line) for name, line in exact)]


def _same_error(hit: Hit, name: str, line: Line) -> bool:
    return hit.known.name == name and hit.line.file == line.file and abs(hit.line.number - line.number) <= TOGETHER


def _in_time(hits: Iterable[Hit]) -> list[Hit]:
    some = list(hits)
    clocked = all(hit.line.clock is not None for hit in some)

    def key(hit: Hit) -> tuple[object, ...]:
        line = hit.line
        when = line.clock if clocked else (_component(line.file),)
        return (when, _component(line.file), line.order, line.number, hit.gap, hit.known.name)

    return sorted(some, key=key)


def _component(file: str) -> int:
    name = file.rpartition("/")[2]
    return next((rank for rank, names in enumerate(_COMPONENTS) if names.search(name)), len(_COMPONENTS))


def _first_of_each(hits: Iterable[Hit]) -> list[Hit]:
    first: dict[tuple[str, str, str], Hit] = {}
    for hit in hits:
        first.setdefault((hit.known.name, hit.known.signature.role, hit.line.file), hit)
    return list(first.values())


def _without_weak_roots(hits: Iterable[Hit], roots: list[Hit]) -> list[Hit]:
    kept = {id(hit) for hit in roots}  # the same hits: to compare each with each takes long where many lines match
    return [hit for hit in hits if hit.known.signature.role is not Part.ROOT or id(hit) in kept]


def _suspect(scans: Sequence[Scan], done: Line | None, *, bare: bool) -> tuple[Line | None, Cluster | None]:
    """The first line that looks like an error; else the first consequence; a bare traceback only if nothing is known."""
    found = [(scan.suspect, scan.cluster) for scan in scans if scan.suspect and not _survived(scan.suspect, done)]
    if found:
        clocked = all(line.clock is not None for line, _ in found)
        return min(found, key=lambda one: (one[0].clock if clocked else (), _component(one[0].file), one[0].order))
    cascades = [
        hit
        for scan in scans
        for hit in scan.hits
        if done is None and hit.known.slug in HARD and hit.known.signature.role is Part.CASCADE
    ]
    if cascades:
        return _in_time(cascades)[0].line, None
    if not bare:
        return None, None
    traces = [scan.traceback for scan in scans if scan.traceback and not _survived(scan.traceback, done)]
    return (traces[0], None) if traces else (None, None)


HARD = frozenset(
    (
        "actor-died",
        "worker-died",
        "task-error",
        "engine-core-dead",
        "worker-proc-failed",
        "inspection-failed",
        "nccl",
        "cancelled",
    )
)
"""Consequences that a healthy run does not have."""
