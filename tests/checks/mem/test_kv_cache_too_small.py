"""MEM005."""

from dataclasses import replace

import pytest

from checks.mem.kv_cache_too_small import kv_cache_too_small
from memories import engine, memory
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Severity, Status
from support import judge, plan_of

THIN = "python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-0.5B-Instruct data.max_prompt_length=2048 data.max_response_length=1024 trainer.n_gpus_per_node=1 actor_rollout_ref.rollout.tensor_model_parallel_size=1 actor_rollout_ref.rollout.gpu_memory_utilization=0.05 algorithm.adv_estimator=grpo\n"


@pytest.mark.parametrize(("kv", "needed", "told"), [(1, 1, 0), (0.9, 1, 1), (0, 0.1, 1)])
def test_room_for_one_sequence(kv: float, needed: float, told: int) -> None:
    made = plan_of(rollout__max_model_len=4096, rollout__gpu_memory_utilization=0.5)
    found = list(kv_cache_too_small(memory(vllm=engine(kv=kv, needed=needed)), made))
    assert [finding.severity for finding in found] == [Severity.ERROR] * told


def test_the_message_names_what_is_left_and_what_is_needed() -> None:
    made = plan_of(rollout__max_model_len=4096, rollout__gpu_memory_utilization=0.5)
    (found,) = kv_cache_too_small(memory(vllm=engine(kv=0.5, needed=2)), made)
    assert found.message == (
        "rollout.gpu_memory_utilization = 0.5 gives vLLM 8.0 GiB; its weights take 2.0 GiB, and 0.5 GiB are left for the "
        "KV cache (500 tokens); expected 2.0 GiB for one sequence of rollout.max_model_len"
    )


@pytest.mark.parametrize(
    ("kv", "device", "remedy"),
    [
        (0.5, "H0", "lower rollout.max_model_len"),
        (0, "H0", "use more GPUs for each engine"),
        (0, "H0 2g.20gb", "use a larger slice or a whole GPU"),
    ],
)
def test_a_shorter_context_is_no_remedy_where_the_weights_fill_the_share(kv: float, device: str, remedy: str) -> None:
    made = plan_of(rollout__max_model_len=4096, rollout__gpu_memory_utilization=0.5)
    found = memory(vllm=engine(kv=kv, needed=2))
    here = replace(found, budget=found.budget._replace(device=replace(found.budget.device, name=device)))
    (one,) = kv_cache_too_small(here, made)
    assert one.remedy is not None
    assert one.remedy.summary == f"raise rollout.gpu_memory_utilization or {remedy}"


def test_reproduces_on_a_slice() -> None:
    assert judge("MEM005", "mig_one_slice", plan=plan(THIN, "run.sh")).status is Status.FAIL


def test_silent_on_the_clean_machine() -> None:
    assert judge("MEM005", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
