"""Finds the root cause among the hits of all files of a job: the earliest root that the run did not survive.

Where no signature matches, no cause is named: the first error is reported as unknown.
"""

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.order import Order
from skyrl_doctor.logs.cause.ranks import describe_gpus, describe_ranks
from skyrl_doctor.logs.cause.runs import EarlierRun, judge_earlier_runs
from skyrl_doctor.logs.cause.stopped import Stopped, find_stopped
from skyrl_doctor.logs.cause.timeline import Placed
from skyrl_doctor.logs.cause.unknown import Group, find_unknown, first_tolerated, other_groups
from skyrl_doctor.logs.cause.warned import weaken
from skyrl_doctor.logs.judge.clusters import Cluster
from skyrl_doctor.logs.judge.framework import choose_dialect
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import CONTEXT, Line
from skyrl_doctor.logs.judge.raised import Raised, parse_raised
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.errors import Weight
from skyrl_doctor.logs.match.phrases import is_teardown
from skyrl_doctor.logs.match.signatures import KnownFailure, load_signatures
from skyrl_doctor.logs.match.steps import SURVIVED_STEPS

FREQUENT = 5
"""A failure that comes so often is no accident that a run survives, even if the run goes on."""
ANSWERS = 20
"""A server that answers so many requests for each that it refuses works."""
SAME_ERROR_LINES = 12
"""Lines that are so near to each other belong to one error."""
OUR_COMMAND = "skyrl-train "
ENDING_SIGNAL = "SIGTERM"
_ANNOUNCES = re.compile(
    r":$|\b(?:failed|FAILED|Failed) to (?:start|create|launch|initiali[sz]e|connect|load|build)(?: (?!because\b)[\w-]{1,30}){0,3}\W{0,3}$"
)
"""How a line ends that says what failed, and leaves the reason to the next one."""
Counts = dict[tuple[str, KnownFailure], int]


@record(kw_only=True)
class Diagnosis:
    """The root cause, all hits in their order, and the first unknown error where no root cause was found.

    others     other possible root causes: later, or not fatal
    cluster    the lines like the unknown one, in its file
    groups     other groups of similar unknown errors
    raised     the parts of the unknown error
    tolerated  the first unknown error that ended nothing
    errors     how many lines show an error, where `tolerated` is the result; None where they are not counted
    survived   root causes that ended nothing: the run came to its end, or further steps ended
    done       the line that says that the run came to its end
    stopped    the last step of a run without an end
    ranks      the ranks that kept the others waiting, in a sentence; empty where the lines do not tell
    dialect    the dialect of the framework that wrote the logs; empty where none is known
    parts      the parts of a system that the logs show: Slurm, Ray and others
    slurm_id   the number of the Slurm job; empty where the logs name none
    has_steps  whether a training step ended
    earlier    the earlier runs of files that hold several; all else is of the last run of each file
    """

    root: Hit | None
    matches: tuple[Hit, ...]
    others: tuple[Hit, ...] = ()
    unknown: Line | None = None
    cluster: Cluster | None = None
    groups: tuple[Group, ...] = ()
    raised: Raised | None = None
    tolerated: Line | None = None
    errors: int | None = None
    survived: tuple[Hit, ...] = ()
    done: Line | None = None
    stopped: Stopped | None = None
    dialect: str = ""
    parts: frozenset[str] = frozenset()
    slurm_id: str = ""
    ranks: str = ""
    has_steps: bool = False
    earlier: tuple[EarlierRun, ...] = ()


def find_root_cause(scans: Sequence[Scan], *, site_s: int = 0, slurm_id: str = "") -> Diagnosis:
    """The diagnosis of a job. `site_s` is the zone of logs that write none, in seconds east of UTC."""
    done = next((scan.done for scan in reversed(scans) if scan.done is not None), None)
    order = Order(_all_lines(scans), site_s=site_s)
    counts = {(scan.file, entry): count for scan in scans for entry, count in scan.counts.items()}
    placed = (_in_its_phase(hit, scans, order, counts) for scan in scans for hit in scan.hits)
    hits = _without_refined([_weakened(hit, counts) for hit in placed if hit is not None])
    roots = [hit for hit in hits if hit.failure.signature.role is Part.ROOT and _is_frequent_enough(hit, counts)]
    survived = {
        id(hit) for hit in roots if hit.failure.signature.fatal and _is_survived(hit, roots, scans, counts, order, done)
    }
    ordered = _sort_by_time([hit for hit in roots if id(hit) not in survived], order)
    fatal = [hit for hit in ordered if hit.failure.signature.fatal and not hit.failure.signature.last_resort]
    last_resorts = sorted(
        (hit for hit in ordered if hit.failure.signature.last_resort), key=lambda hit: hit.failure.signature.passing
    )
    passed = [hit.line for hit in roots if id(hit) in survived]
    suspect, cluster = find_unknown(scans, order, done, passed, with_tracebacks=not ordered)
    if suspect is None and not ordered and done is None:
        suspect = _refused_alone(hits, scans)
    found = Diagnosis(
        root=None,
        matches=tuple(_first_of_each(_sort_by_time(_without_other_roots(hits, ordered), order))),
        survived=tuple(_first_of_each(_sort_by_time([hit for hit in roots if id(hit) in survived], order))),
        tolerated=first_tolerated(scans, order, with_survived=suspect is None and not ordered),
        done=done or _ended_well(scans, suspect),
        stopped=None if done else find_stopped(scans, slurm_id),
        dialect=choose_dialect(name for scan in scans for name in scan.frameworks),
        parts=frozenset(part for scan in scans for part in scan.parts),
        slurm_id=slurm_id,
        has_steps=any(scan.steps for scan in scans),
        earlier=judge_earlier_runs(scans, functools.partial(find_root_cause, site_s=site_s)),
    )
    is_weak = suspect is not None and not _is_serious(suspect, scans)
    if (
        not fatal
        and suspect is not None
        and not (is_weak and ordered)
        and not _is_explained(suspect, last_resorts, scans, order)
    ):
        named = next((scan.named for scan in scans if scan.suspect is suspect), None)
        hit = None if named is None else _in_its_phase(Hit(named, suspect), scans, order, counts)
        if hit is None:
            return _with_consequences(_unknown(found, suspect, cluster, scans), last_resorts)
        fatal, found = [hit], dataclasses.replace(found, matches=tuple(_sort_by_time((*found.matches, hit), order)))
    root = _gravest(fatal or last_resorts or ordered)
    others = tuple(_first_of_each(hit for hit in ordered if root and hit.failure.name != root.failure.name))
    if root is not None:
        found = dataclasses.replace(found, ranks=_ranks(root, hits))
    if root is None or root in last_resorts:
        return dataclasses.replace(found, root=root, others=others)
    return _with_consequences(dataclasses.replace(found, root=root, others=others), last_resorts)


def _gravest(hits: Sequence[Hit]) -> Hit | None:
    """The first hit, or a graver one of the same failure."""
    if not hits:
        return None
    name = hits[0].failure.name
    return max((hit for hit in hits if hit.failure.name == name), key=lambda hit: hit.failure.signature.gravity)


def _refused_alone(hits: Sequence[Hit], scans: Sequence[Scan]) -> Line | None:
    """The first request that a server refused, if it answered none: too few for a cause, but nothing went well."""
    answered = {scan.file for scan in scans if scan.answered or scan.steps}
    refused = (hit.line for hit in hits if hit.failure.signature.request and hit.failure.signature.at_least > 1)
    return next((line for line in refused if line.file not in answered), None)


def _ended_well(scans: Sequence[Scan], suspect: Line | None) -> Line | None:
    """The last words that say so, where a failed command of a script was survived and no other error is left."""
    ended = (scan.ended for scan in reversed(scans) if scan.ended is not None and scan.tolerated is not None)
    return None if suspect else next(ended, None)


def _ranks(root: Hit, hits: Sequence[Hit]) -> str:
    """The ranks that kept the others waiting: by the root cause's own lines, or by the time-outs that follow from it."""
    if gpus := describe_gpus(root, hits):
        return gpus
    others = {hit.failure: hit for hit in hits if hit.failure != root.failure}
    return next(filter(None, (describe_ranks(hit, hits) for hit in (root, *others.values()))), "")


def _unknown(found: Diagnosis, suspect: Line, cluster: Cluster | None, scans: Sequence[Scan]) -> Diagnosis:
    """The diagnosis where no failure is named."""
    versions = next((scan.versions for scan in scans if scan.file == suspect.file), {})
    raised, groups = parse_raised(suspect, versions), other_groups(scans, suspect)
    return dataclasses.replace(found, unknown=suspect, cluster=cluster, groups=groups, raised=raised)


def _is_explained(suspect: Line, last_resorts: Sequence[Hit], scans: Sequence[Scan], order: Order) -> bool:
    """Whether a last resort explains the suspect: it came no later, is what the suspect announces, or the suspect only follows from another error.

    The line with which skyrl-train ends a run names the cause, and may follow Slurm's line.
    """
    if not last_resorts or OUR_COMMAND in suspect.text:
        return False
    first = last_resorts[0]
    if first.failure.signature.passing:
        return not _is_serious(suspect, scans) or _is_torn_down(suspect, first.line, order)
    if _ANNOUNCES.search(suspect.text) and any(_is_below(hit.line, suspect) for hit in last_resorts):
        return True
    return not _is_serious(suspect, scans) or not order.before(suspect, first.line, unless_clocked=True)


def _is_torn_down(suspect: Line, end: Line, order: Order) -> bool:
    """Whether the suspect is what processes write that are ended from outside, and `end` is the signal above it."""
    is_end = ENDING_SIGNAL in end.text and is_teardown(suspect.text)
    return is_end and not order.before(suspect, end, unless_clocked=True)


def _is_below(line: Line, other: Line) -> bool:
    return line.file == other.file and 0 < line.number - other.number <= CONTEXT


def _is_serious(suspect: Line, scans: Sequence[Scan]) -> bool:
    """Whether the suspect says what went wrong, and not only that something did."""
    return any(scan.suspect is suspect and (scan.weight or Weight.NOTE) > Weight.SHELL for scan in scans)


def _weakened(hit: Hit, counts: Counts) -> Hit:
    """The hit, counted as what it is: a warning explains less than an error."""
    weak = weaken(hit)
    if weak is not hit:
        counts[hit.line.file, weak.failure] = counts.get((hit.line.file, hit.failure), 1)
    return weak


def _in_its_phase(hit: Hit, scans: Sequence[Scan], order: Order, counts: Counts) -> Hit | None:
    """The hit; if it counts only before the first step and one ended above it, as the failure that takes its place, if any."""
    if hit.failure.signature.steps is not False:
        return hit
    steps = (step for scan in scans for step in scan.steps if _is_comparable(hit.line, step))
    if all(order.before(hit.line, step, unless_clocked=True) for step in steps):
        return hit
    later = _failure_after_steps(hit.failure.name)
    if later is None:
        return None
    counts[hit.line.file, later] = counts.get((hit.line.file, hit.failure), 1)
    return dataclasses.replace(hit, failure=later)


@functools.cache
def _failure_after_steps(name: str) -> KnownFailure | None:
    entries = (entry for entry in load_signatures() if entry.signature.steps and name in entry.signature.refines)
    return next(entries, None)


def _with_consequences(diagnosis: Diagnosis, last_resorts: Sequence[Hit]) -> Diagnosis:
    """The diagnosis with what ended the run as a consequence: an error above it is the cause.

    A last resort with the name of the root cause repeats it, as Ray's line about a task does: it is left out.
    """
    weak = {hit.failure for hit in last_resorts}
    names = {failure.name for failure in weak}
    own = diagnosis.root.failure.name if diagnosis.root else ""
    return dataclasses.replace(
        diagnosis,
        matches=tuple(
            _as_consequence(hit) if hit.failure in weak else hit
            for hit in diagnosis.matches
            if hit.failure not in weak or hit.failure.name != own
        ),
        others=tuple(hit for hit in diagnosis.others if hit.failure.name not in names),
    )


def _as_consequence(hit: Hit) -> Hit:
    signature = dataclasses.replace(hit.failure.signature, role=Part.CASCADE)
    return dataclasses.replace(hit, failure=dataclasses.replace(hit.failure, signature=signature))


def _all_lines(scans: Sequence[Scan]) -> Iterator[Placed]:
    for scan in scans:
        yield from (hit.line for hit in scan.hits)
        yield from (line for line in (scan.suspect, scan.traceback, scan.done) if line is not None)
        yield from scan.steps


def _is_frequent_enough(hit: Hit, counts: Counts) -> bool:
    return counts.get((hit.line.file, hit.failure), 0) >= hit.failure.signature.at_least


def _is_survived(
    hit: Hit, roots: Sequence[Hit], scans: Sequence[Scan], counts: Counts, order: Order, done: Line | None
) -> bool:
    """Whether the run came to its end after the hit, or the failure is rare and enough steps ended after its last hit.

    A server survives the requests that it refuses.
    """
    if hit.failure.signature.request:
        answered = sum(scan.answered for scan in scans if scan.file == hit.line.file)
        if answered >= ANSWERS * counts[hit.line.file, hit.failure]:
            return True
    if done is not None:  # a run that reached its end is torn down by signals
        is_end = hit.failure.signature.last_resort or is_teardown(hit.line.text)
        return is_end or order.before(hit.line, done, unless_clocked=True)
    if counts[hit.line.file, hit.failure] >= FREQUENT:
        return False
    last = max((one.line for one in roots if one.failure == hit.failure), key=lambda line: (line.order, line.number))
    enough = 1 if hit.failure.signature.passing else SURVIVED_STEPS
    steps = [scan.steps[-enough] for scan in scans if len(scan.steps) >= enough]
    return any(_is_comparable(last, step) and order.before(last, step, unless_clocked=False) for step in steps)


def _is_comparable(line: Placed, other: Placed) -> bool:
    """Whether it is certain which line came first. A clock without a zone may be wrong by hours, and would hide a cause."""
    return line.file == other.file or all(one.clock and one.clock.zone is not None for one in (line, other))


def _without_refined(hits: list[Hit]) -> list[Hit]:
    """The hits without those that a more exact signature explains in the same lines."""
    exact = [(name, hit.line) for hit in hits for name in hit.failure.signature.refines]
    return [
        hit
        for hit in hits
        if not any(
            _is_same_error(hit, name, line) and name not in hit.failure.signature.refines for name, line in exact
        )
    ]


def _is_same_error(hit: Hit, name: str, line: Line) -> bool:
    is_near = hit.line.file == line.file and abs(hit.line.number - line.number) <= SAME_ERROR_LINES
    return hit.failure.name == name and is_near


def _sort_by_time(hits: Iterable[Hit], order: Order) -> list[Hit]:
    some = list(hits)
    places = {(line.file, line.number): at for at, line in enumerate(order.sort(hit.line for hit in some))}
    return sorted(some, key=lambda hit: (places[hit.line.file, hit.line.number], hit.gap, hit.failure.name))


def _first_of_each(hits: Iterable[Hit]) -> list[Hit]:
    """The first hit of each failure and role in each file. A last resort is no substitute for a cause below it."""
    first: dict[tuple[str, str, bool, str], Hit] = {}
    for hit in hits:
        signature = hit.failure.signature
        first.setdefault((hit.failure.name, signature.role, signature.last_resort, hit.line.file), hit)
    return list(first.values())


def _without_other_roots(hits: Iterable[Hit], roots: list[Hit]) -> list[Hit]:
    """The hits without the roots that are not in `roots`."""
    kept = {id(hit) for hit in roots}  # comparing each hit with each takes long where many lines match
    return [hit for hit in hits if hit.failure.signature.role is not Part.ROOT or id(hit) in kept]
