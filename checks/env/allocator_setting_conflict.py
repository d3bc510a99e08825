"""Options of PyTorch's allocator contradict each other or vLLM's sleep mode.

## What it does
Reads `PYTORCH_CUDA_ALLOC_CONF` and its newer name `PYTORCH_ALLOC_CONF` as PyTorch does. It finds the two set to
different options, a value of `expandable_segments` that PyTorch refuses, and `expandable_segments:True` together with
sleep mode (`rollout.free_cache_engine`), which verl has on unless it is told otherwise.

## Why it breaks training
PyTorch's versions disagree which of the two names wins (2.11 takes the old one), so that an upgrade swaps the
options. Anything but `True` or `False` ends the first allocation. Sleep mode keeps vLLM's memory in a pool, in which
growing segments could not live before PyTorch learnt it: vLLM up to about 0.20 fails an assertion, later ones switch
them off for the pool. But vLLM looks for the exact text `expandable_segments:True` in the old name alone. Under the
new name, or with a space in it, nothing notices; with an older PyTorch sleep then frees nothing, and the trainer runs
out of memory at its first update. (PyTorch 2.11 was seen to serve the pool rightly with either name.)

## How to fix
Take `expandable_segments` out and keep other options the same in both variables; `skyrl-doctor env` does it. verl
itself switches growing segments on and off around each weight sync.

## Example
    AssertionError: Expandable segments are not compatible with memory pool. Please track https://github.com/pytorch/pytorch/issues/147851 for the latest updates.
"""

import shlex
from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.plan.answers import vllm_sleeps
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.allocator import (
    EXPANDABLE,
    LEGACY,
    VARIABLES,
    Conflict,
    Trouble,
    allocator_settings,
    conflicts,
)

CAUSE = "expandable_segments and this memory pool exclude each other"

SIGNATURES = (
    Signature(
        pattern=r"Expandable segments are not compatible with memory pool",
        sample="AssertionError: Expandable segments are not compatible with memory pool. Please track https://github.com/pytorch/pytorch/issues/147851 for the latest updates.",
        explain="expandable_segments and vLLM's sleep mode exclude each other",
        versions="vllm",
    ),
    Signature(
        pattern=r"[Ee]xpandable[_ ]segments.{0,80}(?:not compatible|incompatible|not supported (?:with|by) (?:vllm|CuMem|sleep|KV)|is not supported|cannot be used)",
        sample="RuntimeError: PYTORCH_CUDA_ALLOC_CONF expandable_segments:True is incompatible with sleep mode",
        explain=CAUSE,
        versions="vllm",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bexpandable[_ ]segments\b.{0,100}\b(?:cannot|can't|not|incompatib\w+|conflicts?|exclude)\b",
    sample="RuntimeError: expandable_segments cannot be combined with sleep mode",
    explain=CAUSE,
    versions="any",
    unless="on this platform",
)


@check("ENV014", roles=[Role.GPU, Role.LOGIN], fix="skyrl_train/node/allocator.py")
def allocator_setting_conflict(environ: Environ, plan: Plan) -> Iterator[Finding]:
    if not any(name in environ for name in VARIABLES):
        return
    sleeps = vllm_sleeps(plan)
    found = conflicts(environ, sleeps=sleeps)
    if not found:
        return
    settings = {one.name: one.value for one in allocator_settings(environ, sleeps=sleeps).settings}
    remedy = Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="give both variables the same options, without growing segments where vLLM sleeps",
        commands=tuple(_command(name, value) for name, value in settings.items()),
        settings={name: value for name, value in settings.items() if value is not None},
        safe=True,
    )
    for conflict in found:
        yield _finding(conflict, environ, remedy)


def _command(name: str, value: str | None) -> str:
    return f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"


def _finding(conflict: Conflict, environ: Environ, remedy: Remedy) -> Finding:
    seen = f"{conflict.variable}={environ[conflict.variable]!r}"
    match conflict.trouble:
        case Trouble.DIFFERENT:
            said = f"{LEGACY}={environ[LEGACY]!r} and {seen} differ; wanted the same: which one wins depends on PyTorch's version"
        case Trouble.UNREADABLE:
            said = f"{seen}: wanted True or False for {EXPANDABLE}; PyTorch refuses anything else"
        case Trouble.SEEN:
            said = f"{seen} while vLLM sleeps between steps; wanted no {EXPANDABLE}: vLLM up to about 0.20 refuses to start"
        case Trouble.UNSEEN:
            said = (
                f"{seen} while vLLM sleeps between steps; wanted no {EXPANDABLE}: vLLM looks for it in {LEGACY} alone "
                "and as that exact text, and with an older PyTorch sleep frees nothing"
            )
    severity = Severity.ERROR if conflict.trouble is Trouble.UNREADABLE else Severity.WARNING
    return Finding(message=said, severity=severity, remedy=remedy)
