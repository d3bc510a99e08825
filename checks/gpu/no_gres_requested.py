"""A Slurm job uses GPUs that it did not ask for.

## What it does
In a Slurm job on a node with NVIDIA GPUs, looks whether `CUDA_VISIBLE_DEVICES` is set at all. Slurm sets it for each
job that asks for GPUs; unset, every GPU that the job can open counts as its own.

## Why it breaks training
Slurm gives the same GPUs to other jobs. Two runs share one device, and the memory of both runs out at a time that
nobody can foresee: the error ends this run or somebody else's. Where the cluster confines devices, the job sees no
GPU at all.

## How to fix
Ask for the GPUs: `#SBATCH --gres=gpu:1`, with the type where the cluster names one. Where Slurm gave GPUs
(`SLURM_JOB_GPUS` is set) and a script or `srun --export=NONE` took the variable away, keep it. Where a site hands out
whole nodes and knows no gres, a waiver says so.

## Example
    $ sbatch -p gpu --wrap 'echo "${CUDA_VISIBLE_DEVICES-unset}"'
    unset
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpus
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.visible_devices import VARIABLE

LISTS = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS")
COUNT = "SLURM_GPUS_ON_NODE"
"""What Slurm sets beside it for a job that asked for GPUs."""


@check("GPU005", roles=[Role.GPU], fix="operator: only the job's own request to Slurm gives it GPUs")
def no_gres_requested(gpus: Gpus, plan: Plan, environ: Environ) -> Iterator[Finding]:
    if not environ.in_slurm_job:
        raise NotApplicable("this is no Slurm job")
    if VARIABLE in environ:
        return
    name = next((name for name in (*LISTS, COUNT) if environ.get(name)), None)
    if name is None:
        yield _never_asked(gpus, plan.integer("slurm.gpus_per_node") or 1)
    elif _given(name, environ[name]) != len(gpus.slices or gpus.gpus):
        yield _lost(gpus, f"{name}={environ[name]}")


def _given(name: str, value: str) -> int:
    """How many GPUs Slurm gave; as many as are open mean that the cluster confines devices, and no harm is done."""
    if name == COUNT:
        return int(value) if value.isascii() and value.isdecimal() else 0
    return len(value.split(","))


def _lost(gpus: Gpus, given: str) -> Finding:
    devices = gpus.slices or gpus.gpus
    return Finding(
        message=f"{VARIABLE} is unset though Slurm gave GPUs ({given}); wanted as Slurm set it: "
        f"{len(devices)} are open to this step and all would be used",
        evidence=tuple(device.title for device in devices),
        severity=Severity.WARNING,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV, summary=f"find what unsets {VARIABLE} in the job script, or srun --export=NONE"
        ),
    )


def _never_asked(gpus: Gpus, wanted: int) -> Finding:
    seen = f"all {len(gpus.gpus)} that are open would be used" if gpus.gpus else "none is open to this step"
    return Finding(
        message=f"this job asked Slurm for no GPU ({VARIABLE} is unset): {seen}; wanted {wanted} asked for",
        evidence=tuple(gpu.title for gpu in gpus.gpus),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG, summary="ask Slurm for GPUs", commands=(f"#SBATCH --gres=gpu:{wanted}",)
        ),
    )
