"""One failed rollout ends the whole step.

## What it does
`skyrl-doctor diagnose` and `watch` find the messages of trainers that have no rollout left of one task. No check can
see it before the job.

## Why it breaks training
Sandboxes and scorers fail now and then. A trainer that raises on it loses the rollouts of all other tasks too; one
that copies another rollout in its place, or scores it 0, trains on data that never happened.

## How to fix
End only the failed rollout and leave it out of training: mask it. `skyrl-train` does so
(`skyrl_train/agent/guard.py`). If all rollouts of a task fail, read the log of the sandbox runtime for the reason.

## Example
    [FATAL] No fallback (local/global) for instance_id pandas__ab12. Skipping.
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "all rollouts of a task failed; mask them, and find out why the sandboxes failed"

SIGNATURES = (
    Signature(
        pattern=r"\b[Aa]ll (?:\d+ )?(?:rollouts|trajectories|samples|attempts) (?:(?:of|for) \S{1,80} |in (?:this|the) (?:group|batch|step) )?(?:have )?failed|\b[Nn]o (?:successful|valid|usable) (?:rollouts|trajectories|samples)\b",
        sample="RuntimeError: all 4 trajectories of pandas__ab12 failed",
        explain=CAUSE,
        versions="SkyRL, verifiers",
    ),
    Signature(
        pattern=r"No fallback \(local/global\) for instance_id",
        sample="[FATAL] No fallback (local/global) for instance_id pandas__ab12. Skipping.",
        explain=CAUSE,
        versions="SkyRL-agent",
    ),
    Signature(
        pattern=r"Exception: (?:Trajectory (?P<rollout>\d{1,9}) cannot complete\b|\[(?P<uid>[\w.:-]{1,100})\] Rollout failed permanently after \d)",
        sample="Exception: Trajectory 13 cannot complete. Please check the log message",
        explain="a rollout failed in each of its tries, and ends the step",
        remedy="The lines of the same rollout above, one for each try, have the reason. Cure that first; a rollout that may fail must be dropped or given reward 0 instead of raising.",
        versions="rllm",
        last_resort=True,
    ),
)
