"""A weight sync or another phase of the step hangs.

## What it does
`skyrl-doctor watch` raises an alarm when a weight sync began and nothing has moved for 5 minutes, or for 1 minute
after a worker died. `skyrl-doctor diagnose` finds the message of `skyrl-train`. No check can see it before the job.

## Why it breaks training
verl and vLLM wait for each other without a limit. If one of them fails during the sync, the other waits until the
job's time limit.

## How to fix
Stop the run and look for the first error of a worker above the hang. `skyrl-train` ends a phase after
`trainer.phase_timeout_s` and prints the stack of each thread (`skyrl_train/rl/watchman.py`).

## Example
    skyrl-train train: TRN006: the phase `weight sync` took longer than 600 s (trainer.phase_timeout_s)
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"TRN006: the phase `[^`]{1,40}` took longer than \d+",
        sample=(
            "skyrl-train train: TRN006: the phase `weight sync` took longer than 600 s (trainer.phase_timeout_s); the run "
            "is ended, where it hung is shown below"
        ),
        explain="a phase of the step hung; the stacks below the line show where",
        versions="skyrl-train",
    ),
)
