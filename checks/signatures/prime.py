"""Further texts of prime-rl's refusals, as pydantic writes them in one line."""

from checks.signatures.short import root
from skyrl_doctor.core.signature import Signature


def _refused(path: str, sample: str, explain: str) -> tuple[Signature, ...]:
    return (
        root(
            rf"(?:^|[^\w.]){path}\b[\w.]{{0,60}}\W{{0,20}}(?:Extra inputs|Input should|extra_forbidden|Value error)",
            sample,
            explain,
            "prime-rl",
        ),
    )


SIGNATURES = {
    "PRM001": _refused(
        r"(?:trainer\.)?model\.ac",
        "trainer.model.ac: Input should be a valid dictionary or instance of ActivationCheckpointConfig",
        "activation checkpointing is a table: [trainer.model.ac]",
    ),
    "PRM002": _refused(
        r"(?:trainer\.|orchestrator\.)?seq_len",
        "seq_len: Extra inputs are not permitted",
        "seq_len stands in the wrong table for this version",
    ),
    "PRM003": _refused(
        r"(?:orchestrator\.)?(?:train\.)?sampling\.top_p",
        "orchestrator.sampling.top_p: Extra inputs are not permitted",
        "top_p is not allowed in the sampling of training",
    ),
    "PRM004": _refused(
        r"(?:orchestrator\.)?buffer",
        "orchestrator.buffer.type: Input should be 'simple' or 'difficulty-pool'",
        "the buffer's type is not one of this version",
    ),
    "PRM005": _refused(
        r"(?:orchestrator\.)?env(?:ironment)?",
        "orchestrator.environment: Extra inputs are not permitted",
        "environments stand in another form in this version",
    ),
    "PRM006": _refused(
        r"(?:trainer\.)?model\.experimental",
        "trainer.model.experimental.lora: Extra inputs are not permitted",
        "LoRA stands under [trainer.model.lora] in this version",
    ),
}
