"""PRM008."""

from checks.prm.one_gpu_cannot_be_shared import one_gpu_cannot_be_shared
from plans import example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

HALF = "examples/prime-rl/half_migrated.toml"


def test_adds_what_both_ask_for() -> None:
    for inference, trainer, node, told in ((1, 1, 2, 0), (1, 1, 1, 1), (4, 4, 8, 0), (6, 4, 8, 1)):
        text = f"[deployment]\nnum_infer_gpus = {inference}\nnum_train_gpus = {trainer}\ngpus_per_node = {node}\n[orchestrator]\n"
        assert len(list(one_gpu_cannot_be_shared(plan(text)))) == told


def test_reproduces_todays_refusal() -> None:
    assert found("PRM008", example(HALF)) == [
        config_finding(
            "1 GPU(s) for inference + 1 for the trainer = 2, but the node has 1; expected at least 2",
            Location(HALF, 10, "deployment.gpus_per_node"),
            summary="set deployment.gpus_per_node to the number of your nodes, if they have 2 or more",
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("PRM008", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM008", example("examples/prime-rl-2025/v5.toml")) == (
        Status.SKIP,
        "the configuration is not for prime-rl of today's schema",
    )
