"""`VLLM_USE_V1` is set, but current vLLM ignores it.

## What it does
Finds `VLLM_USE_V1` in the environment.

## Why it breaks training
vLLM 0.12 removed its first engine. `VLLM_USE_V1=0` used to avoid a crash of the new engine and now changes nothing:
vLLM logs one warning and runs the engine that the variable was meant to turn off.

## How to fix
Remove the variable from the job script and from `~/.bashrc`. If it was set to avoid a crash in
`THCPModule_initExtension`, set `VLLM_WORKER_MULTIPROC_METHOD=spawn` instead (ENV004).

## Example
    Unknown vLLM environment variable detected: VLLM_USE_V1
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_train.node.vllm import ENGINE_SWITCH


@check("ENV016", roles=[Role.GPU, Role.LOGIN], fix="skyrl_train/node/vllm.py")
def stale_vllm_variable(environ: Environ) -> Iterator[Finding]:
    value = environ.get(ENGINE_SWITCH)
    if value is None:
        return
    yield Finding(
        message=f"{ENGINE_SWITCH}={value} is set; expected unset, because vLLM 0.12 and later have one engine and ignore it",
        severity=Severity.WARNING,
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="unset it", commands=(f"unset {ENGINE_SWITCH}",), safe=True),
    )
