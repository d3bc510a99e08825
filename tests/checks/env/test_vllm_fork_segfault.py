"""ENV004."""

import pytest

from checks.env.vllm_fork_segfault import vllm_fork_segfault
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from support import judge

NAME = "VLLM_WORKER_MULTIPROC_METHOD"
REMEDY = Remedy(
    kind=RemedyKind.FIX_ENV,
    summary="make vLLM spawn its processes",
    commands=(f"export {NAME}=spawn",),
    settings={NAME: "spawn"},
    safe=True,
)
FORK = Finding(message=f"{NAME}='fork'; expected spawn, because a forked engine cannot use CUDA", remedy=REMEDY)


def test_warns_where_the_variable_is_unset() -> None:
    assert list(vllm_fork_segfault(Environ({}))) == [
        Finding(
            message=f"{NAME} is unset, so vLLM forks; expected spawn, because a forked engine cannot use CUDA",
            severity=Severity.WARNING,
            remedy=REMEDY,
        )
    ]


@pytest.mark.parametrize("value", ["fork", "forkserver", "Spawn", " spawn", ""])
def test_any_other_value_that_is_written_down_is_an_error(value: str) -> None:
    assert [found.severity for found in vllm_fork_segfault(Environ({NAME: value}))] == [Severity.ERROR]


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV004", "vllm_fork") == Outcome(
        id="ENV004", slug="vllm-fork-segfault", status=Status.FAIL, findings=(FORK,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV004", "clean_gpu_node").status is Status.PASS
