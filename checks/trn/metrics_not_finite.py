"""A loss is NaN or infinite.

## What it does
`skyrl-doctor watch` reads the losses of each step and reports an error when they are not finite for three steps in a
row. No check can see it before the job.

## Why it breaks training
One NaN in the update spreads to all weights. Every later step and checkpoint is useless, and the run goes on as if
nothing had happened.

## How to fix
Go back to the last checkpoint with a lower learning rate, or clip the gradient. If the first step is bad already,
look at the precision and at the log-probabilities of the engine: `skyrl-train` leaves rollouts with NaN
log-probabilities out.

## Example
    actor/pg_loss is nan
"""
