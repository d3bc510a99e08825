"""The reward of an empty response lands on a padding token.

## What it does
`skyrl-doctor watch` warns when `response_length/min` is below 1 for three steps in a row. No check can see it before
the job.

## Why it breaks training
The reward belongs to the last token of the response. An empty response has none, so the index points into the
padding: the reward is lost or counted for another token, without an error.

## How to fix
Leave empty responses out of training. `skyrl-train` does so (`skyrl_train/rl/trained.py`).

## Example
    response_length/min is 0
"""
