"""The model calls no tool in any rollout.

## What it does
`skyrl-doctor watch` counts the calls of the first rollouts: none in eight rollouts, or more than 95 % of replies
without a call for two steps, is an error. No check can see it before the job.

## Why it breaks training
A rollout without a call changes no file and earns no reward. All rewards of the step are equal, so the policy learns
nothing from it, however long it runs.

## How to fix
Use a model that was trained to call tools. First make sure that the format is not the reason: show the model the XML
form of a call in its prompt (AGT001) and check the stop strings (AGT014).

## Example
    no call in the first 8 rollouts
"""
