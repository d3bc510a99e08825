"""verl's metrics tracker is used as a logger.

## What it does
`skyrl-doctor diagnose` and `watch` find the error in the logs. No check can see it before the job.

## Why it breaks training
The trainer's `logger` attribute is verl's `Tracking`, which writes metrics and has no method `warning`. The call is
usually on the path that handles a failed batch, so the run ends exactly when it should have recovered.

## How to fix
Use a logger of the `logging` module for messages.

## Example
    AttributeError: 'Tracking' object has no attribute 'warning'
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"'Tracking' object has no attribute '\w+'",
        sample="AttributeError: 'Tracking' object has no attribute 'warning'",
        explain="the tracker of metrics was used as a logger",
        versions="verl",
    ),
)
