"""CFG001, CFG006: the inference server refuses all requests, and a check of the configuration gives the cause.

Today's servers answer 400 without a reason in their log, and the client does not log it either: the progress bar stays
at 0/8. Neither half is a cause alone: healthy runs have some refused requests, and a run may never reach a limit that its
configuration exceeds.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Location, RemedyKind
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Advice, Cleared, Update, alert
from skyrl_doctor.watch.observations import Fault, Observation, Served
from skyrl_doctor.watch.rules.base import Rule

ENOUGH = 3.0
IDS = frozenset({"CFG001", "CFG006"})
"""Failures of these make an inference server refuse requests."""


@record
class RefusalsState:
    """`since`: by server, the count of refusals at the last finished request, and the count of finished ones."""

    faults: tuple[tuple[str, str, str, int | None], ...] = ()
    since: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    reported: tuple[str, ...] = ()


def judge(state: RefusalsState, observation: Observation) -> tuple[RefusalsState, tuple[Update, ...]]:
    if isinstance(observation, Fault):
        known = (
            (*state.faults, (observation.id, observation.message, observation.file, observation.line))
            if observation.id in IDS
            else state.faults
        )
        return replace(state, faults=known), ()
    if not isinstance(observation, Served) or observation.refused is None:
        return state, ()
    finished = observation.finished or 0.0
    refused_then, finished_then = state.since.get(observation.url, (0.0, 0.0))
    if finished > finished_then or observation.refused < refused_then:
        cleared = tuple(Cleared(at=observation.at, key=key) for key in state.reported)
        return replace(
            state, since={**state.since, observation.url: (observation.refused, finished)}, reported=()
        ), cleared
    more = observation.refused - refused_then
    if more < ENOUGH or state.reported:
        return state, ()
    found = tuple(_alert(observation, more, fault) for fault in state.faults)
    return replace(state, reported=tuple(one.key for one in found)), found


def _alert(observation: Served, refused: float, fault: tuple[str, str, str, int | None]) -> Update:
    id_, message, file, line = fault
    return alert(
        observation.at,
        id_,
        f"the inference server refused {refused:.0f} requests in a row. Cause in the configuration: {message}",
        key=f"{id_}.refused.log.root",
        root=True,
        evidence=(f"{observation.url}: {refused:.0f} responses with status 4xx", f"{file}:{line}: {message}"),
        location=Location(file, line),
        advice=Advice(
            kind=RemedyKind.FIX_CONFIG,
            summary="correct the configuration",
            commands=(f"skyrl-doctor fix {id_} {file}",),
        ),
    )


RULE = Rule("refusals", RefusalsState, judge)
