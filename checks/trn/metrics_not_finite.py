"""A loss is NaN or infinite.

## What it does
`skyrl-doctor watch` reads the losses and gradients of each step of verl, prime-rl and SkyRL. It reports an error when one
is NaN for two steps in a row or infinite for three: a scaled fp16 gradient may overflow once. No check can see it before
the job. In a log it finds the errors with which torch, DeepSpeed and fairseq refuse such numbers.

## Why it breaks training
One NaN in the update spreads to all weights. Every later step and checkpoint is useless, but the run continues
without an error.

## How to fix
Resume from a checkpoint before the first bad step: later ones may hold NaN too. Lower the learning rate, or clip the
gradient. The finding names the step. If the first step is bad already, look at the precision and at the
log-probabilities of the engine: `skyrl-train` leaves rollouts with NaN log-probabilities out.

## Example
    Grad. Norm is nan for 2 steps in a row; expected finite numbers
"""

from skyrl_doctor.core.signature import Signature

LOWER = "Resume from a checkpoint before the first step with NaN: later ones may hold NaN too. Lower the learning rate, or clip the gradient. In the first step: compare the precision (bf16 instead of fp16) and the model's files with one that works."

SIGNATURES = (
    Signature(
        pattern=r"\bprobability tensor contains either `inf`, `nan` or element < 0",
        sample="RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
        explain="the model's output is NaN or infinite, so no token can be drawn",
        remedy=f"{LOWER} If only batches with padding fail: pad on the left side.",
        versions="torch",
    ),
    Signature(
        pattern=r"\breturned nan values in its \d{1,3}th output\b|\bof distribution \w{3,40}\([^\n]{0,200} to satisfy the constraint [^\n]{0,80}but found invalid values|\bfor gradients from `parameters` is non-finite, so it cannot be clipped",
        sample="RuntimeError: Function 'LogSoftmaxBackward0' returned nan values in its 0th output.",
        explain="the loss or a gradient is NaN or infinite",
        remedy=LOWER,
        versions="torch",
    ),
    Signature(
        pattern=r"\bMinimum loss scale reached \(|\bDetected nan and/or inf values in `|\bThe loss returned in `\w{1,40}` is (?:nan|inf)\b|\bFloatingPointError: invalid value \(\w{1,10}\) encountered in\b|\b[Ll]oss scale already at minimum\b|\b(?:Value|Runtime|FloatingPoint|Assertion)Error: [^\n]{0,60}\b(?:[Ll]oss|gradients?|grad norm) (?:is|are|was|became|has become) (?:NaN|nan|non-?finite|not finite|inf(?:inite)?)\b",
        sample="Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
        explain="every step of fp16 gave infinite gradients, until its loss scale could sink no further, or the program stopped at a loss that is not finite",
        remedy=LOWER,
        versions="deepspeed, fairseq",
    ),
    Signature(
        pattern=r"\bfound (?:NaN|Inf) in local (?:forward loss|grad norm)\b|\b(?:Value|Runtime|Assertion)Error: [^\n]{0,60}\b(?:log_?probs?|\w{0,10}logp|logits|advantages?|rewards?|loss(?:es)?) contains? (?:NaN|nan|Inf|inf)\b",
        sample="AssertionError: Rank 3: found NaN in local forward loss calculation. Device: 3, node: gpu07",
        explain="the loss, a gradient or the log-probabilities of a batch are NaN or infinite, and the program stopped there",
        remedy=LOWER,
        versions="Megatron, AReaL, NeMo-RL",
    ),
    Signature(
        pattern=r"\{'(?:loss|train_loss|eval_loss)': '?nan\b|\{'loss': '?0(?:\.0)?'?, 'grad_norm': '?nan\b",
        sample="{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.1}",
        explain="the loss or the gradient is NaN from this line on, so the run trains nothing",
        remedy=f"{LOWER} Only `eval_loss`: compare the evaluation data, for example rows with all labels masked.",
        versions="transformers, trl, ms-swift, LLaMA-Factory",
        fatal=False,
    ),
    Signature(
        pattern=r"\{'loss': [^\n]{1,200}'(?:rewards/(?:chosen|rejected)|logps/(?:chosen|rejected)|reward|kl)': '?nan\b",
        sample="{'loss': 0.0, 'learning_rate': 1e-05, 'rewards/chosen': nan, 'rewards/rejected': nan, 'epoch': 0.5}",
        explain="the rewards or the log-probabilities are NaN step after step, so the run trains nothing",
        remedy=LOWER,
        versions="trl",
        at_least=3,
        fatal=False,
    ),
    Signature(
        pattern=r"\b(?:[Ss]tep|iter|[Ii]teration|[Ee]poch)\b[^\n]{0,200}\b[Ll]oss[ :=]{1,4}(?:nan|NaN)\b",
        sample="step 00003 (60.00%) | loss: nan | lrm: 0.80 | dt: 277.15ms",
        explain="the loss is NaN step after step, so the run trains nothing",
        remedy=LOWER,
        versions="Megatron, nanochat, torchtune",
        at_least=3,
        fatal=False,
    ),
)
