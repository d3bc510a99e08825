"""MEM003."""

import dataclasses

import pytest

from checks.mem.vllm_share_exceeds_free import vllm_share_exceeds_free
from memories import engine, memory
from plans import MIG20, example, plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Severity, Status
from support import judge, plan_of

GREEDY = "python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-0.5B-Instruct data.max_prompt_length=2048 data.max_response_length=1024 trainer.n_gpus_per_node=1 actor_rollout_ref.rollout.tensor_model_parallel_size=1 actor_rollout_ref.rollout.gpu_memory_utilization=0.9 algorithm.adv_estimator=grpo\n"
KEY = "rollout.gpu_memory_utilization"


def test_the_share_against_what_the_trainer_leaves() -> None:
    made = plan_of(rollout__gpu_memory_utilization=0.9)
    assert list(vllm_share_exceeds_free(memory(vllm=engine(requested=18), rollout=20), made)) == []
    assert list(vllm_share_exceeds_free(memory(vllm=engine(requested=18), rollout=20.5), made)) == [
        Finding(
            message="rollout.gpu_memory_utilization = 0.9 requests 18.0 GiB; H0 has 20.0 GiB and the trainer keeps 2.0 GiB of it while vLLM generates; expected at most 0.87",
            location=Location("plan.toml", None, KEY),
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG, summary="lower rollout.gpu_memory_utilization", settings={KEY: "0.87"}
            ),
            severity=Severity.ERROR,
        )
    ]


def test_what_others_hold_is_not_free() -> None:
    made = plan_of(rollout__gpu_memory_utilization=0.5)
    assert len(list(vllm_share_exceeds_free(memory(vllm=engine(requested=10), rollout=11, free=10.5), made))) == 1


def test_no_share_left_offers_no_setting() -> None:
    made = plan_of(rollout__gpu_memory_utilization=0.5)
    (found,) = vllm_share_exceeds_free(memory(vllm=engine(requested=10), rollout=40), made)
    assert found.remedy is not None
    assert found.remedy.settings == {}


def test_a_vllm_on_its_own_gpu_is_not_judged() -> None:
    shared = memory()
    apart = dataclasses.replace(shared, budget=shared.budget._replace(engine=None))
    with pytest.raises(NotApplicable):
        list(vllm_share_exceeds_free(apart, plan_of()))


def test_reproduces_on_a_slice() -> None:
    outcome = judge("MEM003", "mig_one_slice", plan=plan(GREEDY, "run.sh"))
    assert outcome.status is Status.FAIL
    (finding,) = outcome.findings
    assert finding.location == Location("run.sh", 1, "actor_rollout_ref.rollout.gpu_memory_utilization")


def test_silent_on_the_clean_machine() -> None:
    assert judge("MEM003", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
