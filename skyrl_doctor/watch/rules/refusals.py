"""The inference server refuses all requests, and the job's own configuration says why: a root, while the run still waits.

Servers of today answer 400 and write no reason into their log, and the client keeps it to itself: the progress bar
stands at 0/8. Neither half is a cause alone: some requests are refused in healthy runs, and a bound that a
configuration exceeds may never be reached.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Location, Remedy, RemedyKind
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Said, raised
from skyrl_doctor.watch.observations import Fault, Observation, Served
from skyrl_doctor.watch.rules.base import Rule

ENOUGH = 3.0
IDS = frozenset({"CFG001", "CFG006"})
"""Those whose failure makes an inference server refuse requests."""


@record
class State:
    """`since`: by server, the refusals when a request was finished last, and how many were finished."""

    faults: tuple[tuple[str, str, str, int | None], ...] = ()
    since: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    said: tuple[str, ...] = ()


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if isinstance(seen, Fault):
        known = (*state.faults, (seen.id, seen.message, seen.file, seen.line)) if seen.id in IDS else state.faults
        return replace(state, faults=known), ()
    if not isinstance(seen, Served) or seen.refused is None:
        return state, ()
    finished = seen.finished or 0.0
    refused_then, finished_then = state.since.get(seen.url, (0.0, 0.0))
    if finished > finished_then or seen.refused < refused_then:
        cleared = tuple(Cleared(at=seen.at, key=key) for key in state.said)
        return replace(state, since={**state.since, seen.url: (seen.refused, finished)}, said=()), cleared
    more = seen.refused - refused_then
    if more < ENOUGH or state.said:
        return state, ()
    found = tuple(_finding(seen, more, fault) for fault in state.faults)
    return replace(state, said=tuple(one.key for one in found)), found


def _finding(seen: Served, refused: float, fault: tuple[str, str, str, int | None]) -> Said:
    id_, message, file, line = fault
    return raised(
        seen.at,
        id_,
        f"the inference server refused {refused:.0f} requests and finished none since, and the configuration says why: {message}",
        key=f"{id_}.refused.log.root",
        root=True,
        evidence=(f"{seen.url}: {refused:.0f} answers 4xx", f"{file}:{line}: {message}"),
        location=Location(file, line),
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=message, commands=(f"skyrl-doctor fix {id_} {file}",)),
    )


RULE = Rule("refusals", State, judge)
