"""AMD's ROCR_VISIBLE_DEVICES is set for a job on NVIDIA GPUs.

## What it does
Looks for a `ROCR_VISIBLE_DEVICES` that is not empty.

## Why it breaks training
Slurm sets it beside `CUDA_VISIBLE_DEVICES` wherever a node's gres.conf does not say whose the GPUs are. Each of
verl's workers refuses the two together as it starts. Taking `CUDA_VISIBLE_DEVICES` away does not help: Ray sets it
again for each worker.

## How to fix
Unset it in the job script, as `skyrl-doctor env` does. Administrators end it for everybody with
`Flags=nvidia_gpu_env` in gres.conf.

## Example
    ValueError: Please don't set ROCR_VISIBLE_DEVICES when HIP/CUDA_VISIBLE_DEVICES is set.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_train.node.rocr import AMD_VARIABLE, stops_verl

SIGNATURES = (
    Signature(
        pattern=r"Please don't set ROCR_VISIBLE_DEVICES",
        sample="ValueError: Please don't set ROCR_VISIBLE_DEVICES when HIP/CUDA_VISIBLE_DEVICES is set.",
        explain="Slurm set ROCR_VISIBLE_DEVICES beside CUDA_VISIBLE_DEVICES",
        versions="verl",
    ),
    Signature(
        pattern=r"Please use HIP_VISIBLE_DEVICES instead of ROCR_VISIBLE_DEVICES|Incons[ia]{1,2}st[ae]nt values? .{0,60}(?:HIP|ROCR)_VISIBLE_DEVICES",
        sample="RuntimeError: Please use HIP_VISIBLE_DEVICES instead of ROCR_VISIBLE_DEVICES",
        explain="ROCR_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES are set at once",
        versions="ray",
    ),
)


@check("ENV015", roles=[Role.GPU, Role.LOGIN], fix="skyrl_train/node/rocr.py")
def rocr_visible_devices_set(environ: Environ) -> Iterator[Finding]:
    if not stops_verl(environ):
        return
    yield Finding(
        message=f"{AMD_VARIABLE}={environ[AMD_VARIABLE]!r} is set; wanted unset: verl's workers refuse it",
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="unset it", commands=(f"unset {AMD_VARIABLE}",), safe=True),
    )
