"""MEM002."""

import pytest

from checks.mem.backward_out_of_memory import backward_out_of_memory
from memories import memory
from plans import MIG20, example, plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Severity, Status
from support import judge, plan_of

LONG = "python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-0.5B-Instruct data.max_prompt_length=16384 data.max_response_length=16384 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 trainer.n_gpus_per_node=1 actor_rollout_ref.rollout.tensor_model_parallel_size=1 algorithm.adv_estimator=grpo\n"


@pytest.mark.parametrize(
    ("update", "free", "told"),
    [
        (17, None, []),
        (19.9, None, [Severity.WARNING]),
        (20.1, None, [Severity.ERROR]),
        (12, 11.9, [Severity.ERROR]),
    ],
)
def test_the_update_against_what_is_free(update: float, free: float | None, told: list[Severity]) -> None:
    made = plan_of(actor__micro_batch_size_per_gpu=1)
    assert [finding.severity for finding in backward_out_of_memory(memory(update=update, free=free), made)] == told


def test_the_message_names_the_phase_and_its_largest_parts() -> None:
    (found,) = backward_out_of_memory(memory(update=30), plan_of(actor__micro_batch_size_per_gpu=1))
    assert found.message == "update step 2 and after takes 30.0 GiB (weights 30.0 GiB); H0 has 20.0 GiB"


@pytest.mark.parametrize(
    ("expected", "severity"), [(15, Severity.WARNING), (20.1, Severity.ERROR), (None, Severity.ERROR)]
)
def test_only_the_expected_figure_is_an_error(expected: float | None, severity: Severity) -> None:
    made = plan_of(actor__micro_batch_size_per_gpu=1)
    (found,) = backward_out_of_memory(memory(update=30, expected=expected), made)
    assert found.severity is severity


@pytest.mark.parametrize(("update", "severity"), [(24, Severity.WARNING), (26, Severity.ERROR)])
def test_a_kind_that_was_not_measured_is_an_error_only_beyond_its_range(update: float, severity: Severity) -> None:
    made = plan_of(actor__micro_batch_size_per_gpu=1)
    (found,) = backward_out_of_memory(memory(update=update, spread=0.2), made)
    assert found.severity is severity


def test_a_worst_case_alone_names_the_expected_figure() -> None:
    (found,) = backward_out_of_memory(memory(update=30, expected=15), plan_of(actor__micro_batch_size_per_gpu=1))
    assert found.message.endswith("; with prompts 100 to 200 tokens, replies at their limit, the run takes 15.0 GiB")


def test_says_nothing_where_even_the_model_does_not_fit() -> None:
    with pytest.raises(NotApplicable):
        list(backward_out_of_memory(memory(kept=25, update=30), plan_of()))


def test_reproduces_on_a_slice() -> None:
    outcome = judge("MEM002", "mig_one_slice", plan=plan(LONG, "run.sh"))
    assert outcome.status is Status.FAIL
    assert outcome.findings[0].severity is Severity.ERROR


def test_silent_on_the_clean_machine() -> None:
    assert judge("MEM002", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
