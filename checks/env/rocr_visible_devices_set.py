"""`ROCR_VISIBLE_DEVICES` is set for a job on NVIDIA GPUs.

## What it does
Finds a `ROCR_VISIBLE_DEVICES` that is not empty.

## Why it breaks training
Slurm sets it together with `CUDA_VISIBLE_DEVICES` if a node's gres.conf does not name the vendor of the GPUs. Every
verl worker refuses to start with both. Unsetting `CUDA_VISIBLE_DEVICES` does not help, because Ray sets it again for
each worker.

## How to fix
Unset it in the job script, as `skyrl-doctor env` does. Administrators can fix it for all users with
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
        explain="Slurm set both ROCR_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES",
        versions="verl",
    ),
    Signature(
        pattern=r"Please use HIP_VISIBLE_DEVICES instead of ROCR_VISIBLE_DEVICES|Incons[ia]{1,2}st[ae]nt values? .{0,60}(?:HIP|ROCR)_VISIBLE_DEVICES",
        sample="RuntimeError: Please use HIP_VISIBLE_DEVICES instead of ROCR_VISIBLE_DEVICES",
        explain="ROCR_VISIBLE_DEVICES is set together with CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES",
        versions="ray",
    ),
)


@check("ENV015", roles=[Role.GPU, Role.LOGIN], fix="skyrl_train/node/rocr.py")
def rocr_visible_devices_set(environ: Environ) -> Iterator[Finding]:
    if not stops_verl(environ):
        return
    yield Finding(
        message=f"{AMD_VARIABLE}={environ[AMD_VARIABLE]!r} is set; expected unset, because verl's workers refuse it",
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="unset it", commands=(f"unset {AMD_VARIABLE}",), safe=True),
    )
