"""What the logs' signatures find, while the job runs: each known failure once, with the line that shows it."""

from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Location, Remedy, RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Said, raised
from skyrl_doctor.watch.observations import Hit, Observation
from skyrl_doctor.watch.rules.base import Rule

_KINDS = {
    "GPU": RemedyKind.FIX_ENV,
    "ENV": RemedyKind.FIX_ENV,
    "POD": RemedyKind.RESET_STORE,
    "IMG": RemedyKind.REBUILD_IMAGE,
}


@record
class State:
    """How often each failure was seen, and of which a cause was reported."""

    seen: Mapping[str, int] = field(default_factory=dict)


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if not isinstance(seen, Hit) or seen.id is None or seen.cascade:
        return state, ()
    key = f"{seen.id}.log.root" if seen.root else f"{seen.id}.log"
    counted = replace(state, seen={**state.seen, key: state.seen.get(key, 0) + 1})
    if key in state.seen:
        return counted, ()
    finding = raised(
        seen.at,
        seen.id,
        seen.explain,
        key=key,
        root=seen.root,
        severity=Severity.ERROR if seen.root else Severity.WARNING,
        evidence=(f"{seen.file}:{seen.line}: {seen.text}",),
        location=Location(seen.file, seen.line),
        remedy=Remedy(
            kind=_KINDS.get(seen.id[:3], RemedyKind.FIX_CONFIG),
            summary=seen.explain,
            commands=(f"skyrl-doctor explain {seen.id}",),
        ),
    )
    return counted, (finding,)


RULE = Rule("known", State, judge)
