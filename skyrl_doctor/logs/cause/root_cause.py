"""Which of the hits is the cause: the earliest root over all files of a job that the run did not outlive.

What matched nothing is not forced to.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.order import Order
from skyrl_doctor.logs.cause.timeline import Placed
from skyrl_doctor.logs.judge.clusters import Cluster
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.scanner import Hit, Scan
from skyrl_doctor.logs.match.phrases import RAY_BELOW_ERROR
from skyrl_doctor.logs.match.signatures import Known
from skyrl_doctor.logs.match.steps import OUTLIVED

OFTEN = 5
"""What happens so often is no accident that a run outlives, even if it goes on."""
Counts = dict[tuple[str, Known], int]
TOGETHER = 12
"""Lines that are so near to each other tell of one error."""


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


def choose(scans: Sequence[Scan], *, site_s: int = 0) -> Diagnosis:
    """`site_s` is the zone of logs that write none, in seconds east of Greenwich."""
    done = next((scan.done for scan in reversed(scans) if scan.done is not None), None)
    order = Order(_all_lines(scans), site_s=site_s)
    hits = _demoted([hit for scan in scans for hit in scan.hits])
    counts = {(scan.file, entry): count for scan in scans for entry, count in scan.counts.items()}
    roots = [hit for hit in hits if hit.known.signature.role is Part.ROOT and _often(hit, counts)]
    past = {id(hit) for hit in roots if hit.known.signature.fatal and _is_past(hit, roots, scans, counts, order, done)}
    ordered = _in_time([hit for hit in roots if id(hit) not in past], order)
    fatal = [hit for hit in ordered if hit.known.signature.fatal]
    suspect, cluster = _suspect(scans, order, done, bare=not ordered)
    found = Diagnosis(
        root=None,
        matches=tuple(_first_of_each(_in_time(_without_weak_roots(hits, ordered), order))),
        outlived=tuple(_first_of_each(_in_time([hit for hit in roots if id(hit) in past], order))),
        done=done,
    )
    if not fatal and suspect is not None:
        named = next((scan.named for scan in scans if scan.suspect is suspect), None)
        if named is None:
            return dataclasses.replace(found, unknown=suspect, cluster=cluster)
        hit = Hit(named, suspect)
        fatal, found = [hit], dataclasses.replace(found, matches=tuple(_in_time((*found.matches, hit), order)))
    root = next(iter(fatal or ordered), None)
    others = tuple(_first_of_each(hit for hit in ordered if root and hit.known.name != root.known.name))
    return dataclasses.replace(found, root=root, others=others)


def _all_lines(scans: Sequence[Scan]) -> Iterator[Placed]:
    for scan in scans:
        yield from (hit.line for hit in scan.hits)
        yield from (line for line in (scan.suspect, scan.traceback, scan.done) if line is not None)
        yield from scan.steps


def _often(hit: Hit, counts: Counts) -> bool:
    return counts.get((hit.line.file, hit.known), 0) >= hit.known.signature.at_least


def _is_past(
    hit: Hit, roots: Sequence[Hit], scans: Sequence[Scan], counts: Counts, order: Order, done: Line | None
) -> bool:
    """Whether the run came to its end after it, or it happened a few times and so many steps have ended since the last."""
    if done is not None:
        return order.before(hit.line, done, unless_clocked=True)
    if counts[hit.line.file, hit.known] >= OFTEN:
        return False
    last = max((one.line for one in roots if one.known == hit.known), key=lambda line: (line.order, line.number))
    steps = [scan.steps[0] for scan in scans if len(scan.steps) == OUTLIVED]
    return any(_comparable(last, step) and order.before(last, step, unless_clocked=False) for step in steps)


def _comparable(line: Placed, other: Placed) -> bool:
    """Whether it is sure which was first: an hour's error in the zone of a log must not make a cause of nothing."""
    return line.file == other.file or all(one.clock and one.clock.zone is not None for one in (line, other))


def _demoted(hits: list[Hit]) -> list[Hit]:
    """Without the hits that another signature shows more exactly in the same lines."""
    exact = [(name, hit.line) for hit in hits for name in hit.known.signature.refines]
    return [hit for hit in hits if not any(_same_error(hit, name, line) for name, line in exact)]


def _same_error(hit: Hit, name: str, line: Line) -> bool:
    return hit.known.name == name and hit.line.file == line.file and abs(hit.line.number - line.number) <= TOGETHER


def _in_time(hits: Iterable[Hit], order: Order) -> list[Hit]:
    some = list(hits)
    places = {(line.file, line.number): at for at, line in enumerate(order.first(hit.line for hit in some))}
    return sorted(some, key=lambda hit: (places[hit.line.file, hit.line.number], hit.gap, hit.known.name))


def _first_of_each(hits: Iterable[Hit]) -> list[Hit]:
    first: dict[tuple[str, str, str], Hit] = {}
    for hit in hits:
        first.setdefault((hit.known.name, hit.known.signature.role, hit.line.file), hit)
    return list(first.values())


def _without_weak_roots(hits: Iterable[Hit], roots: list[Hit]) -> list[Hit]:
    kept = {id(hit) for hit in roots}  # the same hits: to compare each with each takes long where many lines match
    return [hit for hit in hits if hit.known.signature.role is not Part.ROOT or id(hit) in kept]


def _suspect(
    scans: Sequence[Scan], order: Order, done: Line | None, *, bare: bool
) -> tuple[Line | None, Cluster | None]:
    """The first line that looks like an error; else the first consequence; a bare traceback only if nothing is known."""
    clusters = {scan.file: scan.cluster for scan in scans}
    cascades = [hit.line for scan in scans for hit in scan.hits if done is None and _is_hard(hit)]
    main = [scan for scan in scans if len(scans) == 1 or not _ASIDE.search(scan.file)]
    suspects = [scan.suspect for scan in main if scan.suspect and not _is_their_end(scan.suspect, cascades)]
    traces = [scan.traceback for scan in main if scan.traceback and bare]
    for lines in (suspects, cascades, traces):
        left = [line for line in lines if done is None or not order.before(line, done, unless_clocked=True)]
        if left:
            first = order.first(left)[0]
            return first, clusters[first.file] if lines is suspects else None
    return None, None


def _is_their_end(line: Line, cascades: Iterable[Line]) -> bool:
    """Whether a process only says that it aborts, and something above says more."""
    return _ABORTS.search(line.text) is not None and any(
        one.file == line.file and one.number < line.number for one in cascades
    )


_ABORTS = re.compile(r"^(?:\*\*\* SIG(?:ABRT|TERM)\b|Aborted\b|Fatal Python error: Aborted|terminate called )")


_ASIDE = re.compile(r"(?:^|/)(?:monitor|log_monitor|dashboard\w*|event_\w+)\.(?:log|out|err)$")
"""Logs of what Ray runs beside a job: that a port of theirs was taken ends no run."""


def _is_hard(hit: Hit) -> bool:
    known = hit.known
    return known.slug in HARD and known.signature.role is Part.CASCADE and not RAY_BELOW_ERROR.search(hit.line.text)


HARD = frozenset(
    (
        "actor-died",
        "worker-died",
        "node-lost",
        "task-error",
        "engine-core-dead",
        "worker-proc-failed",
        "inspection-failed",
        "nccl",
        "cancelled",
    )
)
"""Consequences that a healthy run does not have."""
