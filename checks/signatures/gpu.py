"""What the failures GPU look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Signature

SIGNATURES = {
    "GPU004": (
        Signature(
            pattern=r"Total available GPUs [1-9][\d.]* is less than total desired GPUs",
            sample="ValueError: Total available GPUs 8.0 is less than total desired GPUs 16",
            explain="Ray has fewer GPUs than the run wants: a node did not join, or it is another's Ray",
            versions="verl",
        ),
    ),
}
