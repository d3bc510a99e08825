"""ENV015."""

from checks.env.rocr_visible_devices_set import rocr_visible_devices_set
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Status
from skyrl_doctor.facts.environ import Environ
from support import judge

FOUND = Finding(
    message="ROCR_VISIBLE_DEVICES='0' is set; expected unset, because verl's workers refuse it",
    remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="unset it", commands=("unset ROCR_VISIBLE_DEVICES",), safe=True),
)


def test_finds_the_variable_with_or_without_cudas() -> None:
    assert list(rocr_visible_devices_set(Environ({"ROCR_VISIBLE_DEVICES": "0"}))) == [FOUND]
    assert list(rocr_visible_devices_set(Environ({"ROCR_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "0"}))) == [
        FOUND
    ]


def test_an_empty_one_is_harmless() -> None:
    assert list(rocr_visible_devices_set(Environ({"ROCR_VISIBLE_DEVICES": ""}))) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV015", "rocr_visible_devices_set") == Outcome(
        id="ENV015", slug="rocr-visible-devices-set", status=Status.FAIL, findings=(FOUND,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV015", "clean_gpu_node").status is Status.PASS
