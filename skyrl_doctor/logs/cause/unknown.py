"""Chooses the error to show where no root cause is named: what says most, and of that the first."""

import dataclasses
import re
from collections.abc import Iterable, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.order import Order
from skyrl_doctor.logs.judge.clusters import Cluster, split
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.errors import Weight, is_device_assert, is_not_a_number, looks_like_error, weigh
from skyrl_doctor.logs.match.phrases import is_teardown
from skyrl_doctor.logs.read.levels import Level, parse_header

MAX_GROUPS = 5
Choice = tuple[Line | None, Cluster | None]


@record
class Group:
    """Similar errors, and the file of the first."""

    file: str
    cluster: Cluster


def find_unknown(
    scans: Sequence[Scan], order: Order, done: Line | None, survived: Iterable[Line], *, with_tracebacks: bool
) -> Choice:
    """The first unmatched exception, else the first unmatched error, the first serious consequence, the first traceback, a
    failed command of a shell script, an error that only follows from another, an error that is known as a consequence, and
    last the last words. What stands above the end of the run was survived by it, as were the known
    failures in `survived`."""
    ended_nothing = {(line.file, line.number) for line in survived}
    cascades = [hit.line for scan in scans for hit in scan.hits if done is None and _is_serious(hit, scan)]
    main = [scan for scan in scans if len(scans) == 1 or not _HELPER_LOG.search(scan.file)]
    suspects = [scan for scan in main if scan.suspect and not _is_abort(scan.suspect, cascades)]
    by_weight = {
        weight: [scan.suspect for scan in suspects if scan.suspect and scan.weight is weight] for weight in Weight
    }
    ends = [scan.traceback for scan in main if scan.traceback and with_tracebacks]
    tracebacks = [line for line in ends if (line.file, line.number) not in ended_nothing]
    clusters = {scan.suspect: scan.cluster for scan in suspects}
    followed = [hit.line for scan in main for hit in scan.hits if with_tracebacks and _is_followed_error(hit, scan)]
    levels = (
        by_weight[Weight.EXCEPTION],
        by_weight[Weight.ERROR],
        cascades,
        tracebacks,
        by_weight[Weight.SHELL],
        by_weight[Weight.NOTE],
        followed,
        by_weight[Weight.LAST_WORDS],
    )
    for lines in levels:
        left = [
            line for line in lines if done is None or _is_after_end(line, done, order) or is_not_a_number(line.text)
        ]
        if left:
            first = order.sort(left)[0]
            return first, clusters.get(first)
    return None, None


def first_tolerated(scans: Iterable[Scan], order: Order, *, with_survived: bool) -> Line | None:
    """The first unmatched error that ended nothing: the run said that it goes on. `with_survived`: or came to its end."""
    some = list(scans)
    ends = [(scan, line) for scan in some for line in (scan.suspect, scan.traceback) if line and with_survived]
    survived = [line for scan, line in ends if _is_alarming(line, scan)]
    return next(iter(order.sort(line for line in (*(scan.tolerated for scan in some), *survived) if line)), None)


def _is_alarming(line: Line, scan: Scan) -> bool:
    """Whether an error that the run survived is to be shown: words at the end, and teardown, mean nothing then."""
    return (line is not scan.suspect or scan.weight is not Weight.LAST_WORDS) and not is_teardown(line.text)


def other_groups(scans: Iterable[Scan], shown: Line) -> tuple[Group, ...]:
    """The groups of similar errors beside that of the error that is shown; equal groups of several files are one."""
    found: dict[str, Group] = {}
    for scan in scans:
        for cluster in (*((scan.cluster,) if scan.cluster else ()), *scan.groups):
            first = found.setdefault(cluster.template, Group(scan.file, cluster))
            if first.file != scan.file:
                count = first.cluster.count + cluster.count
                found[cluster.template] = Group(first.file, dataclasses.replace(first.cluster, count=count))
    template, is_cause = " ".join(split(shown.text)), is_device_assert(shown.text)
    others = (
        group
        for group in found.values()
        if not (is_cause and _DEVICE_REPORT.search(group.cluster.sample))
        and group.cluster.template != template
        and not (group.file == shown.file and group.cluster.first == shown.number)
    )
    return tuple(others)[:MAX_GROUPS]


def _is_after_end(line: Line, done: Line, order: Order) -> bool:
    """Whether the line is below the end of the run, and no sign that its processes are being ended."""
    return not order.before(line, done, unless_clocked=True) and not is_teardown(line.text)


def _is_abort(line: Line, cascades: Iterable[Line]) -> bool:
    """Whether a process only says that it aborts, and a line above has the reason."""
    return _ABORT.search(line.text) is not None and any(
        one.file == line.file and one.number < line.number for one in cascades
    )


_ABORT = re.compile(r"^(?:\*\*\* SIG(?:ABRT|TERM)\b|Aborted\b|Fatal Python error: Aborted|terminate called )")
_DEVICE_REPORT = re.compile(r"\bdevice-side assert triggered\b|^terminate called ")
"""How the host reports, later and elsewhere, that an assertion of a GPU kernel failed."""
_HELPER_LOG = re.compile(r"(?:^|/)(?:monitor|log_monitor|dashboard\w*|event_\w+)\.(?:log|out|err)$")
"""Logs of Ray's helpers beside a job: their errors, such as a port in use, end no run."""


def _is_followed_error(hit: Hit, scan: Scan) -> bool:
    """Whether the line of a consequence reports an error: some failure came before it, even if no line names it."""
    if hit.failure.signature.role is not Part.CASCADE or not looks_like_error(hit.line.text):
        return False
    return weigh(hit.line.text) is Weight.EXCEPTION or (hit.failure.slug in ENDED and not _is_survived(hit, scan))


def _is_survived(hit: Hit, scan: Scan) -> bool:
    """Whether the run made a step after it."""
    return any(step.number > hit.line.number for step in scan.steps)


def _is_serious(hit: Hit, scan: Scan) -> bool:
    failure = hit.failure
    level = parse_header(hit.line.text).level
    is_error = level not in (Level.BELOW_WARNING, Level.WARNING) or (
        level is Level.WARNING
        and failure.slug in WARNED
        and not _is_survived(hit, scan)
        and "graceful" not in hit.line.text
    )
    return failure.slug in SERIOUS and failure.signature.role is Part.CASCADE and is_error


SERIOUS = frozenset(
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
WARNED = frozenset(("node-lost",))
"""Those that Ray reports as a warning."""
ENDED = frozenset(("command-failed", "connection-lost", "killed", "task-exited"))
"""Consequences that end a program, where a line of it reports them as an error."""
