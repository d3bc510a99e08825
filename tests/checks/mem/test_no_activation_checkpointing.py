"""MEM004."""

from checks.mem.no_activation_checkpointing import no_activation_checkpointing
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.verdicts import fault
from support import plan_of

FIRST = "examples/prime-rl-2025/v1.toml"
VERL = "python -m verl.trainer.main_ppo actor_rollout_ref.model.enable_gradient_checkpointing={}\n"
VERL_KEY = "actor_rollout_ref.model.enable_gradient_checkpointing"


def test_off_and_shared_only() -> None:
    for on, offload, told in ((False, False, 1), (True, False, 0), (False, True, 0)):
        made = plan_of(model__gradient_checkpointing=on, actor__cpu_offload=offload)
        assert len(list(no_activation_checkpointing(made))) == told


def test_reproduces_the_first_attempt() -> None:
    assert found("MEM004", example(FIRST)) == [
        fault(
            "trainer.model.ac is off unless told otherwise on a GPU that the trainer shares with vLLM; wanted on",
            Location(FIRST, 9, "trainer.model"),
            {},
            summary="turn trainer.model.ac on",
            severity=Severity.WARNING,
        )
    ]


def test_verl_with_it_switched_off() -> None:
    assert found("MEM004", plan(VERL.format("False"), "run.sh")) == [
        fault(
            f"{VERL_KEY} is off on a GPU that the trainer shares with vLLM; wanted on",
            Location("run.sh", 1, VERL_KEY),
            {VERL_KEY: "True"},
            summary=f"turn {VERL_KEY} on",
            severity=Severity.WARNING,
        )
    ]
    assert found("MEM004", plan(VERL.format("True"), "run.sh")) == []


def test_silent_on_clean_configurations() -> None:
    assert found("MEM004", example("examples/prime-rl-2025/v5.toml")) == []
    assert verdict("MEM004", example(MIG20)) == (Status.PASS, "")


def test_gpus_of_their_own_are_not_shared() -> None:
    apart = (Status.SKIP, "the trainer and vLLM have GPUs of their own")
    assert verdict("MEM004", example("examples/prime-rl/two_gpus.toml")) == apart
    assert verdict("MEM004", example("examples/prime-rl-2025/first.toml")) == apart
