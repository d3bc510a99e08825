"""`VLLM_WORKER_MULTIPROC_METHOD` is not `spawn`.

## What it does
Checks that `VLLM_WORKER_MULTIPROC_METHOD` is `spawn`. Any other value, even a misspelt one, is an error; an unset
variable is a warning.

## Why it breaks training
vLLM forks by default. A forked process inherits the state of a CUDA driver that it cannot use: it dies in
`THCPModule_initExtension` or `cuCtxGetDevice`, or reports that CUDA cannot be re-initialised. Recent vLLM switches to
spawn by itself, but only inside a Ray actor and if it sees that torch has initialised CUDA. verl's engines run in Ray
actors, so an unset variable rarely ends a run: it is a warning. An engine outside Ray, such as prime-rl's or a
separate `vllm serve`, has no such protection, and `fork` has no advantage here: a value other than `spawn` is an
error.

## How to fix
`export VLLM_WORKER_MULTIPROC_METHOD=spawn`, which `skyrl-doctor env` and the job scripts do. The Ray workers need it
too.

## Example
    RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_train.node.vllm import START_METHOD, WANTED_START_METHOD, starts_by_spawn

SIGNATURES = (
    Signature(
        pattern=r"Cannot re-initialize CUDA in forked subprocess",
        sample="RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
        explain="vLLM forked a process that already held CUDA",
        remedy='`export VLLM_WORKER_MULTIPROC_METHOD=spawn` before Python starts, and keep what the script runs below `if __name__ == "__main__":`, because a spawned process imports the script again. Ray\'s workers need the variable too. Or use no CUDA (`torch.cuda`, `.to("cuda")`) before the engine is made.',
        versions="vllm",
    ),
    Signature(
        pattern=r"Segfault encountered",
        sample="!!!!!!! Segfault encountered !!!!!!!",
        explain="vLLM's forked worker died while it started CUDA",
        versions="torch",
    ),
    Signature(
        pattern=r"\bTHCPModule_initExtension\b|\bcuCtxGetDevice\b",
        sample='  File "<unknown>", line 0, in THCPModule_initExtension(_object*, _object*)',
        explain="the crash was in the start of CUDA",
        versions="torch",
        role=Part.CONFIRMATION,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bCUDA\b.{0,60}\bfork(?:ed)?\b|\bfork(?:ed)?\b.{0,60}\bCUDA\b",
    sample="RuntimeError: CUDA was initialized before the fork",
    explain="vLLM forks its workers from a process that has used CUDA; set VLLM_WORKER_MULTIPROC_METHOD=spawn",
    versions="any",
)


@check("ENV004", roles=[Role.GPU], fix="skyrl_train/node/vllm.py")
def vllm_fork_segfault(environ: Environ) -> Iterator[Finding]:
    if starts_by_spawn(environ):
        return
    value = environ.get(START_METHOD)
    seen = f"{START_METHOD} is unset, so vLLM forks" if value is None else f"{START_METHOD}={value!r}"
    yield Finding(
        message=f"{seen}; expected {WANTED_START_METHOD}, because a forked engine cannot use CUDA",
        severity=Severity.WARNING if value is None else Severity.ERROR,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="make vLLM spawn its processes",
            commands=(f"export {START_METHOD}={WANTED_START_METHOD}",),
            settings={START_METHOD: WANTED_START_METHOD},
            safe=True,
        ),
    )
