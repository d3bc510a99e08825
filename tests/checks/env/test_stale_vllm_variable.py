"""ENV016."""

from checks.env.stale_vllm_variable import stale_vllm_variable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from support import judge

FOUND = Finding(
    message="VLLM_USE_V1=0 is set; expected unset, because vLLM 0.12 and later have one engine and ignore it",
    severity=Severity.WARNING,
    remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="unset it", commands=("unset VLLM_USE_V1",), safe=True),
)


def test_finds_the_variable_whatever_its_value() -> None:
    assert list(stale_vllm_variable(Environ({"VLLM_USE_V1": "0"}))) == [FOUND]
    assert list(stale_vllm_variable(Environ({}))) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV016", "stale_vllm_variable") == Outcome(
        id="ENV016", slug="stale-vllm-variable", status=Status.FAIL, findings=(FOUND,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV016", "clean_gpu_node").status is Status.PASS
