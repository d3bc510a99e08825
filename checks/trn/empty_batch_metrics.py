"""A batch has no usable rollout, so its metrics fail.

## What it does
`skyrl-doctor diagnose` finds the errors that verl, torch and NumPy raise on an empty batch. `skyrl-doctor watch`
raises an alarm when there was nothing to learn from for three steps. No check can see it before the job.

## Why it breaks training
If every rollout of a step failed or was masked, no token is left. verl then computes `max()` of an empty tensor and
the run ends, or it trains on NaN.

## How to fix
Find out why the rollouts fail: finish reasons, the runtime's log. `skyrl-train` draws new prompts for such a step and
ends the run after `trainer.empty_steps_allowed` further attempts, with the reason (`skyrl_train/rl/sampler.py`).

## Example
    RuntimeError: max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "no sample of the batch was left to train on; skip the step and find out why the rollouts failed"

IN_ATTENTION = r"(?:flash_attention|modeling_flash|modeling_)\w{0,40}\.py"
"""The model's own code above the error: the attention of a batch without tokens."""

SIGNATURES = (
    Signature(
        pattern=r"stack expects a non-empty TensorList|\bneed at least one array to (?:concatenate|stack)|input tensor must be non-empty",
        sample="RuntimeError: stack expects a non-empty TensorList",
        explain=CAUSE,
        versions="torch, numpy",
        near=r"metric|DataProto|protocol\.py|advantage|rollout|batch",
        within=12,
    ),
    Signature(
        pattern=r"\bZeroDivisionError: |No objects to concatenate|is out of bounds for axis 0 with size 0",
        sample="ZeroDivisionError: division by zero",
        explain=CAUSE,
        versions="python",
        near=r"metric_utils|compute_\w{0,20}metrics|reduce_metrics|compute_advantage",
        within=4,
    ),
    Signature(
        pattern=r"TRN001: \d+ batches in a row without one usable rollout",
        sample=(
            "skyrl-train train: error: TRN001: 2 batches in a row without one usable rollout (trainer.empty_steps_allowed is 1): "
            "8 x error_initialization: SandboxError: the sandbox did not start"
        ),
        explain="all rollouts of several batches failed, so nothing was trained on them; the line has the reason",
        versions="skyrl-train",
        refines=("CKP003",),  # the full disk is the sandbox's
    ),
    Signature(
        pattern=r"validation: no rollout could be scored: ",
        sample="skyrl-train train: error: validation: no rollout could be scored: 8 x error_runtime: the sandbox ended",
        explain="all rollouts of a validation failed; the line has the reason",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"zero-size array to reduction operation (?:maximum|minimum)|(?:max|min|amax|argmax|amin)\(\): Expected reduction dim",
        sample="ValueError: zero-size array to reduction operation maximum which has no identity",
        explain=CAUSE,
        versions="numpy, torch",
        unless_above=IN_ATTENTION,
    ),
    Signature(
        pattern=r"\b(?:max|min)\(\) (?:iterable argument is empty|arg is an empty sequence)|mean requires at least one data point",
        sample="ValueError: max() iterable argument is empty",
        explain=CAUSE,
        versions="python",
        near=r"metric_utils|compute_\w{0,20}metrics|reduce_metrics|advantage",
        within=12,
    ),
    Signature(
        pattern=r"critic/(?:advantages|score|rewards|returns)/(?:mean|max|min)['\"]?: ?(?:np\.float\d\d\()?nan\b",
        sample="step:3 - critic/score/mean:nan - critic/advantages/mean:nan - response_length/mean:0.0",
        explain="no sample of the batch was left to train on, so its metrics are NaN",
        versions="verl >= 2026-04",
        fatal=False,
    ),
    Signature(
        pattern=r"expected a non-empty (?:list of Tensors|TensorList)",
        sample="RuntimeError: torch.cat(): expected a non-empty list of Tensors",
        explain=CAUSE,
        versions="torch, verl",
        near=r"metric|DataProto|protocol\.py|advantage|rollout|batch",
        within=40,
    ),
    Signature(
        pattern=r"(?:max|min)\(\): Expected reduction dim to be specified for input\.numel\(\) == 0",
        sample="RuntimeError: max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.",
        explain=CAUSE,
        versions="verl < 2026-04",
        unless_above=IN_ATTENTION,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:train\w* |rollout |whole )?batch (?:is |was )?empty\b|\bempty (?:train\w* |rollout )?batch\b|\bno (?:usable |valid |trainable )?(?:samples?|trajector\w+|rollouts?) (?:left|remain\w*|survived)|\ball (?:\w+ )?(?:samples|trajectories|rollouts|tokens) (?:are|were) masked\b",
    sample="ValueError: training batch is empty after filtering",
    explain=CAUSE,
    versions="any",
)
