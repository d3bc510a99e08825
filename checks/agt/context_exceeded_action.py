"""A rollout that fills its context ends with an error about an action's arguments.

## What it does
`skyrl-doctor diagnose` and `watch` find `CONTEXT_WINDOW_EXCEEDED` inside the arguments of an action. No check can see
it before the job.

## Why it breaks training
The agent builds a `FinishAction` with the `thought` `CONTEXT_WINDOW_EXCEEDED`. The SDK has no such field and raises,
so the rollout crashes and its tokens are lost. A rollout that runs out of context is normal and has to end cleanly.

## How to fix
Record the reason in the rollout's own finish field. `skyrl-train` ends such a rollout with the finish reason
`CONTEXT_WINDOW_EXCEEDED` (`skyrl_train/agent/guard.py`). If it happens often, raise the context or shorten what tools
print.

## Example
      Field required [type=missing, input_value={'thought': 'CONTEXT_WINDOW_EXCEEDED'}, input_type=dict]
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "a full context was reported as an argument of an action; report it as the rollout's finish reason"

SIGNATURES = (
    Signature(
        pattern=r"(?:thought|message)['\"]?[=:] ?['\"]CONTEXT_WINDOW_EXCEEDED",
        sample="TypeError: FinishAction.__init__() got an unexpected keyword argument: thought='CONTEXT_WINDOW_EXCEEDED'",
        explain=CAUSE,
        versions="SkyRL-agent",
        refines=("AGT003",),
    ),
    Signature(
        pattern=r"input_value=.{0,80}CONTEXT_WINDOW_EXCEEDED",
        sample="  Field required [type=missing, input_value={'thought': 'CONTEXT_WINDOW_EXCEEDED'}, input_type=dict]",
        explain=CAUSE,
        versions="openhands-sdk",
        refines=("AGT003",),
    ),
)
