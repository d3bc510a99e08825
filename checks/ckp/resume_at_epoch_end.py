"""The run resumes after its last step, so nothing is left to train.

## What it does
Compares the step of the checkpoint to resume from with the last step of the plan: `steps`, or the steps in `epochs`
if the rows of the data set can be counted on this machine.

## Why it breaks training
A job that is requeued after its last step, or continued with the same number of epochs, loads everything for minutes,
trains nothing and ends with status 0. The queue counts it as a success. (At the end of an epoch that is not the last,
verl's V1 trainer begins the next one, although the saved data loader is used up.)

## How to fix
Raise `epochs` or `steps`, or save into another directory.

## Example
    Resuming from /ckpt/run/global_step_40, setting global step to 40
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role, Severity
from skyrl_doctor.facts.checkpoints import AUTO, Checkpoints
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.checkpoints.rules import last_step

STEPS, EPOCHS, BATCH = "trainer.steps", "trainer.epochs", "data.train_batch_size"
RESUME, OWN = "trainer.resume", "run-config"


@check("CKP004", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/checkpoints/resume.py")
def resume_at_epoch_end(plan: Plan, there: Checkpoints, prompts: PromptLengths | None) -> Iterator[Finding]:
    ours = required(plan).is_of(OWN)
    taken = there.taken(plan.text(RESUME) or AUTO, ours=ours)
    if taken is None or not taken.complete:
        raise NotApplicable("no checkpoint exists to resume from")
    steps, epochs = plan.integer(STEPS), plan.integer(EPOCHS)
    rows = (
        None if prompts is None or (ours and steps) else prompts.rows
    )  # where steps are counted, ours goes by no epochs
    end = last_step(steps=steps, epochs=epochs, rows=rows, batch=plan.integer(BATCH))
    if end is None:
        raise NotApplicable(f"the last step is unknown: {plan.name(STEPS)} is not set and no data set was counted")
    if taken.step < end:
        return
    key = STEPS if steps is not None and steps <= taken.step else EPOCHS
    settings = plan.settings({key: str(taken.step + 1 if key == STEPS else (epochs or 1) + 1)})
    message = f"the run resumes from {taken.path} but ends after step {end}; expected an end beyond step {taken.step}"
    yield config_finding(
        message, plan.place(key), settings, summary="raise the end of the run", severity=Severity.WARNING
    )
