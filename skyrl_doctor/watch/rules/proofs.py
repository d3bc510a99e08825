"""TRN021: a run that proved its weights after each sync does not do so any more."""

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.figures import GRADIENT, PROBE_DIFFERENCE
from skyrl_doctor.watch.finding import Cleared, Update, alert
from skyrl_doctor.watch.observations import Observation, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config

REPORT_AFTER = 3
KEY = "TRN021.unproven"


@record
class ProofsState:
    """`proven` is the last step with a proof. `unproven` are the steps since then, at most REPORT_AFTER."""

    proven: int | None = None
    unproven: tuple[int, ...] = ()


def judge(state: ProofsState, observation: Observation) -> tuple[ProofsState, tuple[Update, ...]]:
    if not isinstance(observation, Step):
        return state, ()
    if PROBE_DIFFERENCE.value(observation.metrics) is not None:
        over = (Cleared(at=observation.at, key=KEY),) if len(state.unproven) == REPORT_AFTER else ()
        return ProofsState(observation.step), over
    # A line without a gradient is no whole step of training: a validation, or a step in which only the critic learns.
    is_step = GRADIENT.value(observation.metrics) is not None and observation.step != state.proven
    if state.proven is None or not is_step or observation.step in state.unproven or len(state.unproven) == REPORT_AFTER:
        return state, ()
    now = ProofsState(state.proven, (*state.unproven, observation.step))
    if len(now.unproven) < REPORT_AFTER:
        return now, ()
    first = now.unproven[0]
    finding = alert(
        observation.at,
        "TRN021",
        f"the last {REPORT_AFTER} steps have no {PROBE_DIFFERENCE.names[0]}, and step {state.proven} has it; expected a proof "
        "of the weights after each sync",
        key=KEY,
        severity=Severity.WARNING,
        advice=fix_config(
            "set trainer.prove_weights = true, or compare a server with the checkpoint: skyrl-train weights URL CHECKPOINT"
        ),
        step=first,
    )
    return now, (finding,)


RULE = Rule("proofs", ProofsState, judge)
