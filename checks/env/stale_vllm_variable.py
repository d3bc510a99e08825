"""A variable of an older vLLM is set.

## What it does
Looks for `VLLM_USE_V1` in the environment.

## Why it breaks training
vLLM's first engine is gone since 0.12. `VLLM_USE_V1=0`, once the cure for a crash of the new engine, now changes
nothing: vLLM logs one warning and runs the engine that the user thought to have switched off.

## How to fix
Take the variable away, from the job script and from `~/.bashrc`. Where it was meant against a crash in
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
        message=f"{ENGINE_SWITCH}={value} is set; wanted unset: vLLM 0.12 and later have one engine and ignore it",
        severity=Severity.WARNING,
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="unset it", commands=(f"unset {ENGINE_SWITCH}",), safe=True),
    )
