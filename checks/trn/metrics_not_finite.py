"""A loss is NaN or infinite.

## What it does
`skyrl-doctor watch` reads the losses and gradients of each step of verl, prime-rl and SkyRL. It reports an error when one
is NaN for two steps in a row or infinite for three: a scaled fp16 gradient may overflow once. No check can see it before
the job.

## Why it breaks training
One NaN in the update spreads to all weights. Every later step and checkpoint is useless, but the run continues
without an error.

## How to fix
Resume from a checkpoint before the first bad step: later ones may hold NaN too. Lower the learning rate, or clip the
gradient. The finding names the step. If the first step is bad already,
look at the precision and at the log-probabilities of the engine: `skyrl-train` leaves rollouts with NaN
log-probabilities out.

## Example
    Grad. Norm is nan for 2 steps in a row; expected finite numbers
"""
