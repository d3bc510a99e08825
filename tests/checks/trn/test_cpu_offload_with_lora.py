"""TRN003."""

from checks.trn.cpu_offload_with_lora import cpu_offload_with_lora
from plans import MIG20, example, found, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

SECOND = "examples/prime-rl-2025/v2.toml"


def test_both_together_only() -> None:
    for rank, offload, told in ((8, True, 1), (8, False, 0)):
        made = plan_of(model__lora_rank=rank, actor__cpu_offload=offload)
        assert len(list(cpu_offload_with_lora(made))) == told


def test_reproduces_the_second_attempt() -> None:
    assert found("TRN003", example(SECOND)) == [
        config_finding(
            "trainer.model.fsdp_cpu_offload is on, but trainer.model.lora.rank = 8 trains a LoRA adapter; expected off",
            Location(SECOND, 11, "trainer.model.fsdp_cpu_offload"),
            {"trainer.model.fsdp_cpu_offload": "false"},
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("TRN003", example("examples/prime-rl-2025/v5.toml")) == []
    assert verdict("TRN003", example(MIG20)) == (Status.SKIP, "the configuration trains no LoRA adapter")
