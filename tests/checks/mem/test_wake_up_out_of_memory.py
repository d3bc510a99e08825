"""MEM006."""

import pytest

from checks.mem.wake_up_out_of_memory import wake_up_out_of_memory
from memories import memory
from plans import MIG20, example, plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Severity, Status
from support import judge, plan_of

FULL = "python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct data.max_prompt_length=512 data.max_response_length=512 trainer.n_gpus_per_node=1 actor_rollout_ref.rollout.tensor_model_parallel_size=1 algorithm.adv_estimator=grpo\n"


@pytest.mark.parametrize(("sync", "told"), [(10, []), (19.5, [Severity.WARNING]), (21, [Severity.ERROR])])
def test_the_sync_against_what_is_free(sync: float, told: list[Severity]) -> None:
    made = plan_of(actor__optimizer_offload=False)
    assert [finding.severity for finding in wake_up_out_of_memory(memory(sync=sync), made)] == told


def test_the_message_names_the_largest_parts() -> None:
    (found,) = wake_up_out_of_memory(memory(sync=21), plan_of(actor__optimizer_offload=False))
    assert found.message == "the weight sync takes 21.0 GiB (weights 21.0 GiB); H0 has 20.0 GiB"


def test_a_vllm_that_does_not_sleep_does_not_wake_up() -> None:
    with pytest.raises(NotApplicable):
        list(wake_up_out_of_memory(memory(sleeps=False), plan_of()))


def test_reproduces_on_a_slice() -> None:
    assert judge("MEM006", "big_models_on_a_slice", plan=plan(FULL, "run.sh")).status is Status.FAIL


def test_silent_on_the_clean_machine() -> None:
    assert judge("MEM006", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
