"""CKP004: a run that resumed at the end of an epoch ends at once, with status 0, and has trained nothing."""

from dataclasses import replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Said, raised
from skyrl_doctor.watch.observations import Checkpoint, Ended, Hit, Observation, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config
from skyrl_train.contracts.job_files import COMPLETE


@record
class State:
    """The checkpoint that was there before any step, whether one ended, and whether a log shows a cause."""

    checkpoint: int | None = None
    stepped: bool = False
    failed: bool = False


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if isinstance(seen, Step):
        return replace(state, stepped=True), ()
    if isinstance(seen, Hit):
        return replace(state, failed=state.failed or seen.root), ()
    if isinstance(seen, Checkpoint) and state.checkpoint is None:
        return replace(state, checkpoint=seen.step), ()
    if not isinstance(seen, Ended) or COMPLETE not in seen.why:
        return state, ()
    if state.stepped or state.failed or state.checkpoint is None:
        return state, ()
    message = (
        f"the run resumed from step {state.checkpoint} and ended without a step; wanted at least one: at the end of an "
        "epoch the data of the checkpoint is used up"
    )
    remedy = fix_config(f"leave data.pt of global_step_{state.checkpoint} aside, or raise the epochs")
    return state, (raised(seen.at, "CKP004", message, severity=Severity.WARNING, remedy=remedy),)


RULE = Rule("resumed", State, judge)
