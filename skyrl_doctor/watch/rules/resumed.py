"""CKP004: a run that resumes at the end of an epoch ends at once, with status 0 and without training."""

from dataclasses import replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Change, Update, alert
from skyrl_doctor.watch.observations import Checkpoint, Ended, Hit, Observation, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config
from skyrl_train.contracts.job_files import COMPLETE


@record
class ResumedState:
    """The checkpoint that existed before any step, whether a step ended, and whether a log shows a root cause."""

    checkpoint: int | None = None
    stepped: bool = False
    failed: bool = False


def judge(state: ResumedState, observation: Observation) -> tuple[ResumedState, tuple[Update, ...]]:
    if isinstance(observation, Step):
        return replace(state, stepped=True), ()
    if isinstance(observation, Hit):
        return replace(state, failed=state.failed or observation.root), ()
    if isinstance(observation, Checkpoint) and state.checkpoint is None:
        return replace(state, checkpoint=observation.step), ()
    if not isinstance(observation, Ended) or COMPLETE not in observation.why:
        return state, ()
    if state.stepped or state.failed or state.checkpoint is None:
        return state, ()
    message = (
        f"the run resumed from step {state.checkpoint} and ended without a training step; expected at least one. "
        "The checkpoint was saved at the end of an epoch, when all data was used"
    )
    advice = fix_config(
        f"move data.pt of global_step_{state.checkpoint} away, or train more epochs", Change("trainer.epochs", plus=1)
    )
    return state, (alert(observation.at, "CKP004", message, severity=Severity.WARNING, advice=advice),)


RULE = Rule("resumed", ResumedState, judge)
