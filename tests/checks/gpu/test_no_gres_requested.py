"""GPU005."""

import pytest

from checks.gpu.no_gres_requested import no_gres_requested
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Closed, Gpu, Gpus
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of, recorded

TITLES = tuple(f"GPU {index} (NVIDIA H100 80GB HBM3)" for index in range(4))
FOUR = Gpus(
    source="nvml",
    gpus=tuple(Gpu(index=index, uuid=f"GPU-{index}", name="NVIDIA H100 80GB HBM3") for index in range(4)),
)
JOB = {"SLURM_JOB_ID": "4711"}


def never_asked(seen: str, wanted: int, evidence: tuple[str, ...]) -> Finding:
    return Finding(
        message=f"this job requested no GPU from Slurm (CUDA_VISIBLE_DEVICES is unset): {seen}; expected a request for {wanted}",
        evidence=evidence,
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG, summary="request GPUs from Slurm", commands=(f"#SBATCH --gres=gpu:{wanted}",)
        ),
    )


def test_reproduces_on_a_recording() -> None:
    found = never_asked("all 4 that are open would be used", 2, TITLES)
    assert judge("GPU005", "no_gres_requested", plan=plan_of(slurm__gpus_per_node=2)) == Outcome(
        id="GPU005", slug="no-gres-requested", status=Status.FAIL, findings=(found,)
    )


def test_says_so_where_the_cluster_confines_devices() -> None:
    closed = Gpus(source="nvml", closed=(Closed(0, "Insufficient Permissions"),))
    assert list(no_gres_requested(closed, Plan(), Environ(JOB))) == [never_asked("none is open to this step", 1, ())]


@pytest.mark.parametrize(
    ("name", "value"), [("SLURM_JOB_GPUS", "3"), ("SLURM_STEP_GPUS", "0,1"), ("SLURM_GPUS_ON_NODE", "2")]
)
def test_finds_a_variable_that_got_lost(name: str, value: str) -> None:
    assert list(no_gres_requested(FOUR, Plan(), Environ({**JOB, name: value}))) == [
        Finding(
            message=f"CUDA_VISIBLE_DEVICES is unset although Slurm gave GPUs ({name}={value}), so all 4 that are open to this step would be used; expected the value that Slurm set",
            evidence=TITLES,
            severity=Severity.WARNING,
            remedy=Remedy(
                kind=RemedyKind.FIX_ENV,
                summary="find out what unsets CUDA_VISIBLE_DEVICES in the job script, or srun --export=NONE",
            ),
        )
    ]


@pytest.mark.parametrize(("name", "value"), [("SLURM_JOB_GPUS", "4,5,6,7"), ("SLURM_GPUS_ON_NODE", "4")])
def test_no_harm_where_just_the_given_gpus_are_open(name: str, value: str) -> None:
    assert list(no_gres_requested(FOUR, Plan(), Environ({**JOB, name: value}))) == []


@pytest.mark.parametrize("value", ["", "0", "NoDevFiles"])
def test_a_variable_that_is_set_is_not_unset(value: str) -> None:
    assert list(no_gres_requested(FOUR, Plan(), Environ({**JOB, "CUDA_VISIBLE_DEVICES": value}))) == []


def test_a_garbled_number_from_slurm_is_no_excuse() -> None:
    assert len(list(no_gres_requested(FOUR, Plan(), Environ({**JOB, "SLURM_GPUS_ON_NODE": "four"})))) == 1


def test_skips_outside_of_slurm_and_without_a_gpu() -> None:
    assert judge("GPU005", "no_nvidia_gpu").status is Status.SKIP
    outcome = judge("GPU005", recorded("no_gres_requested").but({"environ": {"HOME": "/home/trainer"}}))
    assert (outcome.status, outcome.reason) == (Status.SKIP, "this is not a Slurm job")


def test_silent_on_the_clean_machine() -> None:
    assert judge("GPU005", "clean_gpu_node").status is Status.PASS
