"""PRM006."""

from checks.prm.lora_under_experimental import lora_under_experimental
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

FIRST = "examples/prime-rl-2025/first.toml"


def test_looks_at_the_old_place_only() -> None:
    head = "[orchestrator]\ngroup_size = 2\n"
    assert (
        len(list(lora_under_experimental(plan(head + "[trainer.model]\nexperimental = { lora = { rank = 8 } }\n"))))
        == 1
    )
    assert list(lora_under_experimental(plan(head + "[trainer.model.lora]\nrank = 8\n"))) == []


def test_reproduces_the_first_file() -> None:
    assert found("PRM006", example(FIRST)) == [
        config_finding(
            "[trainer.model.experimental.lora] moved; expected [trainer.model.lora]",
            Location(FIRST, 10, "trainer.model.experimental.lora"),
            moves={"trainer.model.experimental.lora": "trainer.model.lora"},
            summary="rename the table to [trainer.model.lora]",
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("PRM006", example("examples/prime-rl-2025/v5.toml")) == []
    assert found("PRM006", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM006", example(MIG20)) == (Status.SKIP, "the configuration is not for prime-rl")
