"""GPU001."""

import pytest

from checks.gpu.mig_uuid import REMEDIES, mig_uuid
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpu, Gpus, Slice
from skyrl_train.node.mig import Why
from support import judge, recorded

ONE, TWO = "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f", "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb"
GPU = "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77"
TO_ZERO = Remedy(
    kind=RemedyKind.FIX_ENV,
    summary="name the slice by number, as `skyrl-doctor env` does",
    commands=("export CUDA_VISIBLE_DEVICES=0",),
    settings={"CUDA_VISIBLE_DEVICES": "0"},
    safe=True,
)


def named(value: str, *seen: str) -> Finding:
    return Finding(
        message=f"CUDA_VISIBLE_DEVICES={value} names a MIG slice by UUID, but vLLM needs a number; expected 0, the only slice of this step",
        evidence=seen,
        remedy=TO_ZERO,
    )


def refused(why: Why, message: str, *seen: str) -> Finding:
    return Finding(message=message, evidence=seen, remedy=REMEDIES[why])


def outcome(*findings: Finding) -> Outcome:
    return Outcome(id="GPU001", slug="mig-uuid", status=Status.FAIL, findings=findings)


def test_finds_the_uuid_of_the_only_slice() -> None:
    gpus = Gpus(
        source="nvml",
        gpus=(Gpu(index=0, uuid="GPU-1", name="x", mig=True, slices=(Slice(uuid="MIG-1", parent="GPU-1", index=0),)),),
    )
    assert list(mig_uuid(gpus, Environ({"CUDA_VISIBLE_DEVICES": "MIG-1"}))) == [named("MIG-1", "MIG slice MIG-1")]
    assert list(mig_uuid(gpus, Environ({"CUDA_VISIBLE_DEVICES": "0"}))) == []
    assert list(mig_uuid(gpus, Environ({}))) == []


@pytest.mark.parametrize(
    ("machine", "finding"),
    [
        ("mig_one_slice", named(ONE, f"MIG slice 3g.20gb ({ONE})")),
        ("mig_old_name", named(f"MIG-{GPU}/2/0", f"MIG slice 3g.20gb (MIG-{GPU}/2/0)")),
        ("nvidia_smi_only", named(ONE, f"MIG slice 2g.20gb ({ONE})")),
        (
            "mig_two_slices",
            refused(
                Why.SEVERAL_SLICES,
                "CUDA_VISIBLE_DEVICES names 2 MIG slices; use one: CUDA gives a process only one slice, so "
                "more slices are not more GPUs",
                f"MIG slice 2g.20gb ({ONE})",
                f"MIG slice 2g.20gb ({TWO})",
            ),
        ),
        (
            "mig_not_confined",
            refused(
                Why.OTHERS_BESIDE,
                "this step can open 2 MIG slices and CUDA_VISIBLE_DEVICES names one of them; give the step only one slice, because 0 "
                "could mean another one",
                f"MIG slice 2g.20gb ({ONE})",
                f"MIG slice 2g.20gb ({TWO})",
            ),
        ),
        (
            "mig_stale_uuid",
            refused(
                Why.NOT_HERE,
                f"CUDA_VISIBLE_DEVICES names {TWO}, which this step cannot open, so CUDA ignores the rest of the list; this step can open: "
                f"{ONE}",
                f"MIG slice 2g.20gb ({ONE})",
            ),
        ),
        (
            "no_dev_files",
            refused(
                Why.NO_DEVICES,
                "CUDA_VISIBLE_DEVICES=NoDevFiles: Slurm gave this step no GPU; start the step with --gres=gpu:1",
            ),
        ),
    ],
)
def test_reproduces_on_a_recording(machine: str, finding: Finding) -> None:
    assert judge("GPU001", machine) == outcome(finding)


def test_every_refusal_has_its_remedy() -> None:
    assert set(REMEDIES) == set(Why)


def test_only_the_remap_is_safe_to_apply() -> None:
    assert [remedy.safe for remedy in REMEDIES.values()] == [False] * len(Why)


@pytest.mark.parametrize("machine", ["driver_library_mismatch", "nvidia_smi_hangs", "nvml_hangs"])
def test_a_broken_driver_is_unknown(machine: str) -> None:
    assert judge("GPU001", machine).status is Status.UNKNOWN


def test_nothing_to_say_without_a_gpu() -> None:
    assert judge("GPU001", "no_nvidia_gpu").status is Status.SKIP


@pytest.mark.parametrize("machine", ["clean_gpu_node", "whole_h200", "whole_h100_eight"])
def test_silent_on_the_clean_machine(machine: str) -> None:
    assert judge("GPU001", machine).status is Status.PASS


def test_silent_once_the_cure_was_applied() -> None:
    machine = recorded("mig_one_slice").but({"environ": {"CUDA_VISIBLE_DEVICES": "0"}})
    assert judge("GPU001", machine).status is Status.PASS
