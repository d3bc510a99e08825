"""Failures that log signatures find while the job runs: each is reported once, with its line."""

from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Location, RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Advice, Update, alert
from skyrl_doctor.watch.observations import Hit, Observation
from skyrl_doctor.watch.rules.base import Rule

_KINDS = {
    "GPU": RemedyKind.FIX_ENV,
    "ENV": RemedyKind.FIX_ENV,
    "POD": RemedyKind.RESET_STORE,
    "IMG": RemedyKind.REBUILD_IMAGE,
}


@record
class SignaturesState:
    """How often each failure was found, by key."""

    counts: Mapping[str, int] = field(default_factory=dict)


def judge(state: SignaturesState, observation: Observation) -> tuple[SignaturesState, tuple[Update, ...]]:
    if not isinstance(observation, Hit) or observation.id is None or observation.cascade:
        return state, ()
    key = f"{observation.id}.log.root" if observation.root else f"{observation.id}.log"
    counted = replace(state, counts={**state.counts, key: state.counts.get(key, 0) + 1})
    if key in state.counts:
        return counted, ()
    finding = alert(
        observation.at,
        observation.id,
        observation.explain,
        key=key,
        root=observation.root,
        severity=Severity.ERROR if observation.root else Severity.WARNING,
        evidence=(f"{observation.file}:{observation.line}: {observation.text}",),
        location=Location(observation.file, observation.line),
        advice=Advice(
            kind=_KINDS.get(observation.id[:3], RemedyKind.FIX_CONFIG),
            summary=observation.explain,
            commands=(f"skyrl-doctor explain {observation.id}",),
        ),
    )
    return counted, (finding,)


RULE = Rule("known", SignaturesState, judge)
