"""MEM001."""

import pytest

from checks.mem.model_too_big import model_too_big
from memories import memory
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Severity, Status
from support import judge, plan_of

BIG = "python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-1.5B-Instruct data.max_prompt_length=2048 data.max_response_length=1024 trainer.n_gpus_per_node=1 actor_rollout_ref.rollout.tensor_model_parallel_size=1 algorithm.adv_estimator=grpo\n"


@pytest.mark.parametrize(("kept", "free", "told"), [(19.9, None, 0), (20, None, 0), (20.1, None, 1), (15, 14.9, 1)])
def test_what_is_kept_against_what_the_gpu_has(kept: float, free: float | None, told: int) -> None:
    found = list(model_too_big(memory(kept=kept, free=free), plan_of(model__path="a/b")))
    assert [finding.severity for finding in found] == [Severity.ERROR] * told


def test_the_message_names_both_figures() -> None:
    (found,) = model_too_big(memory(kept=25), plan_of(model__path="a/b"))
    assert found.message == (
        "Qwen/Qwen2.5-0.5B needs 25.0 GiB on the GPU during training, independently of the batch; H0 has 20.0 GiB"
    )
    (found,) = model_too_big(memory(kept=25, free=12), plan_of(model__path="a/b"))
    assert found.message.endswith("; H0 has 12.0 GiB free of 20.0 GiB")


def test_refuses_the_notes_model_of_1_5b_on_a_slice_of_20_gb() -> None:
    outcome = judge("MEM001", "big_models_on_a_slice", plan=plan(BIG, "run.sh"))
    assert outcome.status is Status.FAIL
    (finding,) = outcome.findings
    assert (finding.severity, finding.location and finding.location.file) == (Severity.ERROR, "run.sh")
    assert finding.remedy is not None
    assert finding.remedy.settings == {"actor_rollout_ref.model.lora_rank": "32"}


def test_silent_on_the_clean_machine() -> None:
    assert judge("MEM001", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS


def test_a_machine_without_a_gpu_and_a_plan_without_a_type_is_not_judged() -> None:
    outcome = judge("MEM001", "no_nvidia_gpu", plan=example(MIG20))
    assert outcome.status is Status.SKIP
