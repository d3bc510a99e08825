"""What the failures TRN look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Signature

SIGNATURES = {
    "TRN001": (
        Signature(
            pattern=r"(?:max|min)\(\): Expected reduction dim to be specified for input\.numel\(\) == 0",
            sample="RuntimeError: max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.",
            explain="no sample of the batch was left to train on; skip the step, and look for why the rollouts failed",
            versions="verl < 2026-04",
        ),
    ),
    "TRN002": (
        Signature(
            pattern=r"'Tracking' object has no attribute '\w+'",
            sample="AttributeError: 'Tracking' object has no attribute 'warning'",
            explain="the tracker of metrics was used as a logger",
            versions="verl",
        ),
    ),
}
