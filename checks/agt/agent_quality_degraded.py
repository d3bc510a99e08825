"""The agent gets worse during the run.

## What it does
`skyrl-doctor watch` compares each step with limits and with earlier steps: more than half of the rollouts masked or
out of context, more than 30 % in a loop, more than half of the answers cut off, or less than 10 % of the rollouts
that end with `finish` after at least 30 % before. An alarm needs two to five bad steps in a row. It also raises an
alarm if the mean reward of five steps falls below half of the best one, if the mean entropy of five steps falls below
0.05 and below a tenth of the best one, or if the KL to the reference model is above 10.

## Why it breaks training
The policy has collapsed or the sandboxes fail. Further steps cost GPU time, and later checkpoints are worse than
earlier ones.

## How to fix
Read the finish reasons of the masked rollouts first: sandbox errors are no fault of the policy. If the policy
collapsed, go back to the last good checkpoint with a lower learning rate or a higher KL loss. If answers are cut off,
raise the response length or the context.

## Example
    the mean reward of 5 steps fell from 0.42 (at step 31) to 0.12; expected at least half of the best
"""
