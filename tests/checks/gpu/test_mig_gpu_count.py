"""GPU002."""

import pytest

from checks.gpu.mig_gpu_count import mig_gpu_count
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Closed, Gpu, Gpus
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of, recorded

PLACE = Location("plan.toml", None, "slurm.gpus_per_node")
ONE, TWO = "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f", "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb"
GUESSED = Roles(frozenset({Role.GPU}), asked=False)
H100 = Gpu(index=0, uuid="GPU-1", name="NVIDIA H100")


def wants(number: int) -> Plan:
    return plan_of(slurm__gpus_per_node=number)


def too_few(message: str, wanted: int, place: Location | None = PLACE) -> Finding:
    return Finding(
        message=message,
        location=place,
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="request the GPUs of the plan from Slurm",
            commands=(f"#SBATCH --gres=gpu:{wanted}",),
        ),
    )


SLICES = Finding(
    message="slurm.gpus_per_node = 2, but this step has 2 MIG slices on 1 physical GPU and Ray counts 1 GPU; expected 1, because a process gets one slice and slices cannot train together",
    evidence=(f"MIG slice 2g.20gb ({ONE})", f"MIG slice 2g.20gb ({TWO})"),
    location=PLACE,
    remedy=Remedy(
        kind=RemedyKind.FIX_CONFIG,
        summary="plan for one slice and request one from Slurm",
        commands=("#SBATCH --gres=gpu:1",),
        settings={"slurm.gpus_per_node": "1"},
    ),
)


def test_two_slices_are_not_two_gpus() -> None:
    assert judge("GPU002", "mig_two_slices", plan=wants(2)) == Outcome(
        id="GPU002", slug="mig-gpu-count", status=Status.FAIL, findings=(SLICES,)
    )


@pytest.mark.parametrize(
    ("gpus", "environ", "wanted", "message"),
    [
        ((H100,), {"CUDA_VISIBLE_DEVICES": "0"}, 2, "GPUs: CUDA finds 1 and Ray counts 1; expected 2"),
        (
            (H100,),
            {"CUDA_VISIBLE_DEVICES": "7"},
            1,
            "GPUs: none that CUDA finds, with 1 GPU open to this step and CUDA_VISIBLE_DEVICES='7'; expected 1",
        ),
        (
            (H100,),
            {"CUDA_VISIBLE_DEVICES": "0,0"},
            1,
            "GPUs: none that CUDA finds, with 1 GPU open to this step and CUDA_VISIBLE_DEVICES='0,0'; expected 1",
        ),
        (
            (Gpu(index=0, uuid="GPU-1", name="NVIDIA A100", mig=True),),
            {"CUDA_VISIBLE_DEVICES": "0"},
            1,
            "GPUs: GPU 0 (NVIDIA A100) is in MIG mode, but none of its slices is open to this step; expected 1",
        ),
        ((), {}, 8, "GPUs: none open to this step; expected 8"),
    ],
)
def test_finds_too_few(gpus: tuple[Gpu, ...], environ: dict[str, str], wanted: int, message: str) -> None:
    found = mig_gpu_count(Gpus(source="nvml", gpus=gpus), None, wants(wanted), Environ(environ), GUESSED)
    assert list(found) == [too_few(message, wanted)]


def test_finds_no_device_even_without_a_plan() -> None:
    gpus = Gpus(source="nvml", closed=(Closed(0, "Insufficient Permissions"),))
    assert list(mig_gpu_count(gpus, None, Plan(), Environ({}), GUESSED)) == [
        too_few("GPUs: 1 here, but none open to this step; expected 1", 1, None)
    ]


def test_finds_a_node_without_gpu_that_a_plan_wants() -> None:
    assert list(mig_gpu_count(None, None, wants(1), Environ({}), GUESSED)) == [
        too_few("GPUs: this node has no NVIDIA driver and no GPU; expected 1", 1)
    ]
    with pytest.raises(NotApplicable, match="this machine has no NVIDIA GPU, and no plan uses one"):
        list(mig_gpu_count(None, None, Plan(), Environ({}), GUESSED))


def test_a_node_without_gpu_cannot_be_the_gpu_node_that_was_asked_for() -> None:
    outcome = judge("GPU002", "no_nvidia_gpu", role=Role.GPU)
    assert (outcome.status, outcome.findings) == (
        Status.FAIL,
        (too_few("GPUs: this node has no NVIDIA driver and no GPU; expected 1", 1, None),),
    )
    assert judge("GPU002", "no_nvidia_gpu", role=None).status is Status.SKIP


@pytest.mark.parametrize(
    ("device", "label"),
    [("kfd", "an AMD GPU (/dev/kfd)"), ("davinci0", "an Ascend NPU (/dev/davinci0)")],
)
def test_an_accelerator_of_another_maker_is_not_judged(device: str, label: str) -> None:
    outcome = judge("GPU002", recorded("no_nvidia_gpu").but({"list /dev": ["null", device]}), plan=wants(8))
    assert (outcome.status, outcome.reason) == (
        Status.SKIP,
        f"this node has no NVIDIA GPU but {label}, which the doctor does not read",
    )


def test_tells_of_idle_gpus() -> None:
    outcome = judge("GPU002", "whole_h100_eight", plan=wants(4))
    assert outcome.findings == (
        Finding(
            message="slurm.gpus_per_node = 4, but this step has 8 GPUs; 4 would stay idle",
            severity=Severity.INFO,
            location=PLACE,
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG,
                summary="request only as many GPUs as the plan uses, or plan for all",
                settings={"slurm.gpus_per_node": "8"},
            ),
        ),
    )


def test_tells_of_idle_slices_and_does_not_advise_to_use_all() -> None:
    outcome = judge("GPU002", "mig_two_slices", plan=wants(1))
    assert outcome.findings == (
        Finding(
            message="slurm.gpus_per_node = 1, but this step has 2 MIG slices; 1 would stay idle",
            severity=Severity.INFO,
            location=PLACE,
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG,
                summary="request one slice from Slurm, not --exclusive",
                commands=("#SBATCH --gres=gpu:1",),
            ),
        ),
    )


def test_reproduces_on_recordings() -> None:
    assert judge("GPU002", "no_dev_files", plan=wants(1)).findings == (
        too_few("GPUs: 1 here, but none open to this step; expected 1", 1),
    )
    assert judge("GPU002", "driver_library_mismatch", plan=wants(1)).status is Status.UNKNOWN


def test_has_nothing_to_compare_without_a_plan() -> None:
    outcome = judge("GPU002", "clean_gpu_node")
    assert (outcome.status, outcome.reason) == (
        Status.SKIP,
        "no plan sets the number of GPUs per node (slurm.gpus_per_node)",
    )


def test_a_plan_that_does_not_read_is_unknown() -> None:
    assert judge("GPU002", "clean_gpu_node", plan=plan_of(slurm__gpus_per_node="two")).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("machine", "wanted"), [("clean_gpu_node", 1), ("whole_h200", 1), ("whole_h100_eight", 8), ("mig_one_slice", 1)]
)
def test_silent_where_the_plan_fits(machine: str, wanted: int) -> None:
    assert judge("GPU002", recorded(machine), plan=wants(wanted)).status is Status.PASS
