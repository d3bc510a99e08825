"""The sandbox runtime died during the run.

## What it does
`skyrl-doctor diagnose` and `watch` find the messages of `skyrl-train` about it. The trainer's job asks the runtime
every few seconds. No check can see it before the job.

## Why it breaks training
Without the runtime no rollout can end. `skyrl-train` therefore ends the trainer, so that it does not hold its GPUs
for nothing.

## How to fix
Read the end of the runtime's log. If it has no error, ask Slurm: `sacct -j JOB --format=State,ExitCode,MaxRSS`.
`OUT_OF_MEMORY` means that the runtime's job needs more memory (ENV007), `TIMEOUT` that its time limit is too short
(SLM001).

## Example
    skyrl-train job: trainer: the runtime job ended: the runtime was killed by signal 9
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "the sandbox runtime died while the trainer needed it; read its log or `sacct -j JOB --format=State,ExitCode,MaxRSS`"

SIGNATURES = (
    Signature(
        pattern=r"skyrl-train job: runtime: the runtime (?:(?:ended with|exited with status) [1-9]|was killed by signal \d)",
        sample="skyrl-train job: runtime: the runtime was killed by signal 9",
        explain=CAUSE,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"skyrl-train job: trainer: (?:stopped by signal \d+: )?the runtime job (?:ended(?: before it was ready)?: (?!done|the gate|stopped|the program|the trainer job)|\d+ (?:is |ended without a report(?!: JobState=(?:NODE_FAIL|PREEMPTED|TIMEOUT|OUT_OF_MEMORY|CANCELLED))))",
        sample="skyrl-train job: trainer: the runtime job ended: the runtime was killed by signal 9",
        explain=CAUSE,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"the runtime at https?://\S{1,200} has not answered for \d+ s",
        sample="skyrl-train job: trainer: the runtime at http://node07:8000 has not answered for 18 s",
        explain=CAUSE,
        versions="skyrl-train",
    ),
)
