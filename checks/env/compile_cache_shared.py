"""A cache of compiled models is shared with other nodes or jobs.

## What it does
Finds the caches of vLLM (`$VLLM_CACHE_ROOT`, else `$XDG_CACHE_HOME/vllm`, else `~/.cache/vllm`), of Inductor
(`$TORCHINDUCTOR_CACHE_DIR`, else `torchinductor_USER` in the temporary directory) and of FlashInfer
(`$FLASHINFER_WORKSPACE_BASE`), follows their links and looks for network file systems and for places that cannot be
written. In a Slurm job it also names those that a second job on this node would write into.

## Why it breaks training
Each process compiles, writes and reads at its own time. Over a network file system or between two jobs one reads what
another has half written: the engine dies at start-up, or loads code that was built for another GPU.

## How to fix
Give every job directories of its own on the node's disk; `skyrl-doctor env` prints them. Delete a cache that is already
damaged.

## Example
    RuntimeError: vLLM failed to compile the model. The most likely reason for this is that a previous compilation failed,
    leading to a corrupted compilation artifact.
"""

from collections.abc import Iterator, Mapping

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.caches import CachePlace, Caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_train.node.caches import TRITON, Cache, cache_settings, is_shared_by_jobs

SIGNATURES = (
    Signature(
        pattern=r"vLLM failed to compile the model|failed to get the hash of the compiled graph",
        sample="RuntimeError: vLLM failed to compile the model. The most likely reason for this is that a previous compilation failed, leading to a corrupted compilation artifact.",
        explain="compile caches are shared between jobs, and one left half a file",
        versions="vllm",
    ),
)


@check("ENV010", roles=[Role.GPU], fix="skyrl_train/node/caches.py")
def compile_cache_shared(found: Caches, environ: Environ, host: Host) -> Iterator[Finding]:
    job_id = environ.get("SLURM_JOB_ID")
    prepared = cache_settings(
        environ, home=environ.get("HOME", ""), user=host.user, uid=host.uid, job_id=job_id, unfit=found.unfit
    )
    moves = {setting.name: setting.value for setting in prepared.settings if setting.value is not None}
    others = [place for place in found.places if place.cache is not None and place.cache.program != TRITON]
    findings = [finding for place in others for finding in _judged(place, job_id, moves)]
    unseen = [place.unseen for place in others if place.unseen]
    if unseen and not findings:
        raise CouldNotLook("; ".join(unseen))
    yield from findings


def _judged(place: CachePlace, job_id: str | None, moves: Mapping[str, str]) -> Iterator[Finding]:
    cache = place.cache
    if cache is None:
        return
    if place.broken:
        seen, wanted = place.broken, "a directory that this user can write and load code from"
        yield _finding(cache, seen, wanted, Severity.WARNING, moves)
    elif place.remote:
        wanted = "a directory of this job on the node's own disk"
        yield _finding(cache, place.remote, wanted, Severity.WARNING, moves)
    elif not place.unseen and is_shared_by_jobs(cache, job_id):
        seen = f"{place.path} serves every job of this user on this node"
        yield _finding(cache, seen, f"a directory of job {job_id} alone", Severity.INFO, moves)


def _finding(cache: Cache, seen: str, wanted: str, severity: Severity, moves: Mapping[str, str]) -> Finding:
    settings = {name: value for name, value in moves.items() if name == cache.variable}
    summary = "move the cache to the node" if settings else "find a local disk for the cache: no place here is fit"
    return Finding(
        message=f"{cache.program}'s cache: {seen}; wanted {wanted}",
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=summary, settings=settings, safe=bool(settings)),
    )
