"""CKP004."""

import pytest

from checks.ckp.resume_at_epoch_end import resume_at_epoch_end
from plans import plan
from skyrl_doctor.core.model import Severity, Status
from skyrl_doctor.facts.checkpoints import Checkpoint, Checkpoints
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_doctor.plan.model import Plan
from skyrl_train.checkpoints.resume import Resume, nothing_left
from skyrl_train.contracts.checkpoints.rules import last_step
from support import judge, plan_of

VERL = (
    "python -m verl.trainer.main_ppo trainer.default_local_dir={place} trainer.total_training_steps={steps} "
    "actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-0.5B-Instruct data.train_files=/data/prompts.parquet\n"
)
CLEAN = "/home/trainer/run/checkpoints/skyrl-dev/mig20"


@pytest.mark.parametrize(
    ("steps", "epochs", "rows", "batch", "end"),
    [
        (5, 1, None, 2, 5),
        (50, 2, 40, 4, 20),
        (5, 2, 40, 4, 5),
        (None, 3, 41, 4, 30),
        (None, 3, None, 4, None),
        (7, 1, 9, None, 7),
    ],
)
def test_the_last_step(steps: int | None, epochs: int, rows: int | None, batch: int | None, end: int | None) -> None:
    assert last_step(steps=steps, epochs=epochs, rows=rows, batch=batch) == end


def test_the_trainer_says_so_too() -> None:
    assert nothing_left(Resume("/c/global_step_4", 4, ()), 5) is None
    assert nothing_left(Resume(None, 0, ()), None) is None
    assert nothing_left(Resume("/c/global_step_5", 5, ()), 5) == (
        "the run resumes from step 5 and ends after step 5: nothing is left to train. Raise trainer.steps or trainer.epochs."
    )


@pytest.mark.parametrize(("step", "told"), [(19, 0), (20, 1), (21, 1)])
def test_an_end_by_epochs(step: int, told: int) -> None:
    found = Checkpoint(step=step, path=f"/c/global_step_{step}", worlds=(1,))
    there = Checkpoints(root="/c", tracker=str(step), found=(found,), free=0)
    prompts = PromptLengths(file="f", count=1, rows=40, p50=1, p95=1, longest=1)
    made = plan_of(trainer__epochs=2, data__train_batch_size=4)
    findings = list(resume_at_epoch_end(made, there, prompts))
    assert [one.severity for one in findings] == [Severity.WARNING] * told
    if findings:
        assert findings[0].message == (
            f"the run resumes from /c/global_step_{step} but ends after step 20; expected an end beyond step {step}"
        )
        assert findings[0].remedy is not None
        assert findings[0].remedy.settings == {"trainer.epochs": "3"}


def test_steps_alone_end_a_run_of_ours() -> None:
    found = Checkpoint(step=25, path="/c/global_step_25", worlds=(1,))
    there = Checkpoints(root="/c", tracker="25", found=(found,), free=0)
    prompts = PromptLengths(file="f", count=1, rows=40, p50=1, p95=1, longest=1)
    values = plan_of(trainer__epochs=2, trainer__steps=30, data__train_batch_size=4).values
    assert list(resume_at_epoch_end(Plan(("run.toml",), "run-config", values), there, prompts)) == []
    assert len(list(resume_at_epoch_end(Plan(("run.sh",), "verl", values), there, prompts))) == 1


def test_reproduces_on_a_recording() -> None:
    outcome = judge("CKP004", "run_at_its_end", plan=plan(VERL.format(place="/ckpt/run", steps=40), "run.sh"))
    assert [one.message for one in outcome.findings] == [
        "the run resumes from /ckpt/run/global_step_40 but ends after step 40; expected an end beyond step 40"
    ]
    assert (
        judge("CKP004", "run_at_its_end", plan=plan(VERL.format(place="/ckpt/run", steps=41), "run.sh")).status
        is Status.PASS
    )


def test_silent_on_the_clean_machine() -> None:
    made = plan(VERL.format(place=CLEAN, steps=10), "run.sh")
    assert judge("CKP004", "clean_gpu_node", plan=made).status is Status.PASS
