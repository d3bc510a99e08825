"""No rollout ends, and the run waits forever.

## What it does
`skyrl-doctor watch` raises an alarm when no rollout, token, step or checkpoint arrives. The limit comes from the
run's own steps: six times the median or 2.5 times the longest step, at least 5 minutes. Before three steps have
ended it is at least 20 minutes. If a log shows a cause or the inference server refuses requests, the limit is at most
one minute or twice the longest step, whichever is longer. `skyrl-doctor diagnose` finds progress bars that stay at 0.

## Why it breaks training
The job holds its GPUs until its time limit and trains nothing. The trainer's log shows a progress bar and no error,
because the error is in the log of another component.

## How to fix
Read the logs of vLLM and of the sandbox runtime. The usual reasons are requests that exceed the context (CFG001), a
missing tool parser (CFG006) and a sandbox runtime that does not answer (RUN011).

## Example
    Generating rollouts:   0%|          | 0/8 [15:23<?, ?it/s]
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "no rollout ended; read the logs of vLLM and of the sandbox runtime"

SIGNATURES = (
    Signature(
        pattern=r"[Ee]vent[ _]?[Ll]oop[ _]?[Ll]ag\b.{0,40}\b\d{3,9}(?:\.\d{1,9})? ?s|\b(?:rollouts?|trajectories|generation)\b.{0,60}(?:stuck|no progress|not progressing|stalled) for \d{3,9}",
        sample="WARNING event_loop_lag max 702.4 s, no rollout ended since",
        explain=CAUSE,
        versions="prime-rl",
        fatal=False,
    ),
    Signature(
        pattern=r"(?:rollout|Rollout)s?\b.{0,200}\b0/\d+ \[(?:\d+:\d\d|[1-9]\d):\d\d<",
        sample="Generating rollouts:   0%|          | 0/8 [15:23<?, ?it/s]",
        explain=CAUSE,
        versions="prime-rl",
        fatal=False,
    ),
    Signature(
        pattern=r"\bidle for \d{3,9} sec",
        sample="Runtime ab12 was killed: idle for 1244 sec",
        explain=CAUSE,
        versions="openhands runtime",
        fatal=False,
    ),
)
