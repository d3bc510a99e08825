"""ENV014."""

import dataclasses

import pytest

from checks.env.allocator_setting_conflict import allocator_setting_conflict
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

LEGACY, UNIFIED = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
GROWS = "expandable_segments:True"


def remedy(commands: tuple[str, ...], settings: dict[str, str]) -> Remedy:
    return Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="give both variables the same options, without expandable_segments if vLLM sleeps",
        commands=commands,
        settings=settings,
        safe=True,
    )


UNSEEN = Finding(
    message=f"{UNIFIED}='{GROWS},max_split_size_mb:512' while vLLM sleeps between steps; expected no expandable_segments: vLLM finds it only in {LEGACY} and only as that exact text, and with an older PyTorch sleep frees nothing",
    severity=Severity.WARNING,
    remedy=remedy((f"export {UNIFIED}=max_split_size_mb:512",), {UNIFIED: "max_split_size_mb:512"}),
)


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV014", "expandable_segments_with_sleep") == Outcome(
        id="ENV014", slug="allocator-setting-conflict", status=Status.FAIL, findings=(UNSEEN,)
    )


def test_finds_what_old_vllm_refuses() -> None:
    assert list(allocator_setting_conflict(Environ({LEGACY: GROWS}), Plan())) == [
        Finding(
            message=f"{LEGACY}='{GROWS}' while vLLM sleeps between steps; expected no expandable_segments, because vLLM up to about 0.20 refuses to start",
            severity=Severity.WARNING,
            remedy=remedy((f"unset {LEGACY}",), {}),
        )
    ]


def test_finds_two_variables_that_differ() -> None:
    environ = Environ({LEGACY: "garbage_collection_threshold:0.8", UNIFIED: "max_split_size_mb:512"})
    kept = "garbage_collection_threshold:0.8"
    assert list(allocator_setting_conflict(environ, Plan())) == [
        Finding(
            message=f"{LEGACY}='{kept}' and {UNIFIED}='max_split_size_mb:512' differ; expected the same value, because PyTorch's version decides which one wins",
            severity=Severity.WARNING,
            remedy=remedy((f"export {LEGACY}={kept}", f"export {UNIFIED}={kept}"), {LEGACY: kept, UNIFIED: kept}),
        )
    ]


def test_a_value_that_pytorch_refuses_is_an_error() -> None:
    (found,) = allocator_setting_conflict(Environ({LEGACY: "expandable_segments:true"}), Plan())
    assert dataclasses.replace(found, remedy=None) == Finding(
        message=f"{LEGACY}='expandable_segments:true': PyTorch rejects this; expected True or False for expandable_segments"
    )


@pytest.mark.parametrize(
    "plan", [plan_of(rollout__free_cache_engine=False), dataclasses.replace(Plan(), dialect="prime-rl")]
)
def test_growing_segments_are_fine_where_nothing_sleeps(plan: Plan) -> None:
    assert list(allocator_setting_conflict(Environ({UNIFIED: GROWS}), plan)) == []


def test_sleeps_where_the_plan_says_so() -> None:
    assert judge(
        "ENV014", "expandable_segments_with_sleep", plan=plan_of(rollout__free_cache_engine=True)
    ).findings == (UNSEEN,)
    assert (
        judge("ENV014", "expandable_segments_with_sleep", plan=plan_of(rollout__free_cache_engine="yes")).status
        is Status.UNKNOWN
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV014", "clean_gpu_node").status is Status.PASS
