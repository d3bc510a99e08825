"""`PYTORCH_CUDA_ALLOC_CONF` contradicts its newer name or vLLM's sleep mode.

## What it does
Reads `PYTORCH_CUDA_ALLOC_CONF` and its newer name `PYTORCH_ALLOC_CONF` as PyTorch does. It finds the two set to
different options, a value of `expandable_segments` that PyTorch rejects, and `expandable_segments:True` together with
sleep mode (`rollout.free_cache_engine`), which verl turns on by default.

## Why it breaks training
Which of the two names wins depends on PyTorch's version (2.11 uses the old one), so an upgrade can swap the options.
Any value but `True` or `False` fails at the first allocation. Sleep mode keeps vLLM's memory in a pool that older
PyTorch versions cannot combine with expandable segments: vLLM up to about 0.20 fails an assertion, later versions
turn them off for the pool. But vLLM looks only for the exact text `expandable_segments:True` under the old name. It
misses the new name and a value with a space. With an older PyTorch, sleep then frees nothing, and the trainer runs
out of memory at its first update. (In our tests PyTorch 2.11 served the pool correctly with either name.)

## How to fix
Remove `expandable_segments` and give both variables the same other options; `skyrl-doctor env` does it. verl itself
turns expandable segments on and off around each weight sync.

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

CAUSE = "this memory pool does not work with expandable_segments"

SIGNATURES = (
    Signature(
        pattern=r"Expandable segments are not compatible with memory pool",
        sample="AssertionError: Expandable segments are not compatible with memory pool. Please track https://github.com/pytorch/pytorch/issues/147851 for the latest updates.",
        explain="vLLM's sleep mode does not work with expandable_segments",
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
        summary="give both variables the same options, without expandable_segments if vLLM sleeps",
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
            said = f"{LEGACY}={environ[LEGACY]!r} and {seen} differ; expected the same value, because PyTorch's version decides which one wins"
        case Trouble.UNREADABLE:
            said = f"{seen}: PyTorch rejects this; expected True or False for {EXPANDABLE}"
        case Trouble.SEEN:
            said = f"{seen} while vLLM sleeps between steps; expected no {EXPANDABLE}, because vLLM up to about 0.20 refuses to start"
        case Trouble.UNSEEN:
            said = f"{seen} while vLLM sleeps between steps; expected no {EXPANDABLE}: vLLM finds it only in {LEGACY} and only as that exact text, and with an older PyTorch sleep frees nothing"
    severity = Severity.ERROR if conflict.trouble is Trouble.UNREADABLE else Severity.WARNING
    return Finding(message=said, severity=severity, remedy=remedy)
