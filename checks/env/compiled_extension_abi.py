"""A compiled extension does not load beside the installed torch.

## What it does
Where torch is installed for the training interpreter, has it import torch and load each compiled extension of vLLM,
flash-attn, xformers, torchvision, FlashInfer, bitsandbytes and others that is installed too, in a process of its own with
a time limit.

## Why it breaks training
These extensions are built against one torch. Beside another one a symbol is missing, and the import fails where it is
first needed: in a worker, after the job has its GPU. A torch that was upgraded alone breaks all of them at once.

## How to fix
Install the builds that belong to this torch, all in one command; without flash-attn, set the model's
`attn_implementation` to `sdpa`.

## Example
    ImportError: flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.extensions import Extensions, Tried
from skyrl_doctor.facts.interpreter import Interpreter

SIGNATURES = (
    Signature(
        pattern=r"undefined symbol: _Z",
        sample="ImportError: /venv/lib/python3.12/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcEE",
        explain="a compiled extension was built for another torch",
        versions="flash-attn",
    ),
)


NEEDED = ("torch", "vllm", "torchvision")
"""Without these nothing trains; the others are needed by some configurations only."""
NO_DRIVER = "libcuda.so.1: cannot open shared object file"


@check("ENV011", roles=[Role.GPU], fix="operator: what is installed for the training interpreter is its owner's")
def compiled_extension_abi(found: Extensions, interpreter: Interpreter) -> Iterator[Finding]:
    without_driver = [tried for tried in found.failed if NO_DRIVER in tried.said]
    failed = [tried for tried in found.failed if tried not in without_driver]
    if without_driver and not failed:
        raise CouldNotLook(f"{without_driver[0].name} wants a GPU's driver, and this machine has none: {NO_DRIVER}")
    for tried in failed:
        yield _finding(tried, found, interpreter)


def _finding(tried: Tried, found: Extensions, interpreter: Interpreter) -> Finding:
    name, version = tried.distribution, interpreter.packages.get(tried.distribution, "")
    torch = found.torch or interpreter.packages.get("torch", "")
    seen = f"{name} {version}".strip()
    beside = "does not import" if name == "torch" else f"does not load beside torch {torch}"
    needed = name in NEEDED or not version
    return Finding(
        message=f"{seen} {beside} under {interpreter.python.path}; wanted a build that belongs to it",
        evidence=(tried.said if tried.name in (name, *tried.said.split(": ")) else f"{tried.name}: {tried.said}",),
        severity=Severity.ERROR if needed else Severity.WARNING,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="install torch and what is built against it together, from one index",
            commands=(f"{interpreter.python.path} -m pip install --force-reinstall --no-deps --no-cache-dir {name}",),
        ),
    )
