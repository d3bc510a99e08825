"""A cache of compiled models is shared with other nodes or jobs.

## What it does
Finds the caches of vLLM (`$VLLM_CACHE_ROOT`, else `$XDG_CACHE_HOME/vllm`, else `~/.cache/vllm`), of Inductor
(`$TORCHINDUCTOR_CACHE_DIR`, else `torchinductor_USER` in the temporary directory) and of FlashInfer
(`$FLASHINFER_WORKSPACE_BASE`), follows their links, and finds those on network file systems and those that cannot be
written. In a Slurm job it also names those that a second job on this node would use.

## Why it breaks training
Each process compiles, writes and reads at its own time. On a network file system, or between two jobs, one process
reads a file that another has half written. The engine then dies at start-up, or loads code that was built for another
GPU.

## How to fix
Give every job its own directories on the node's disk; `skyrl-doctor env` prints them. Delete a cache that is already
damaged.

## Example
    RuntimeError: vLLM failed to compile the model. The most likely reason for this is that a previous compilation failed,
    leading to a corrupted compilation artifact.
"""

from collections.abc import Iterator, Mapping

from checks.vocabulary import BROKEN, FILE_ERROR, NETWORK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.caches import CachePlace, Caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_train.node.caches import TRITON, Cache, cache_settings, is_shared_by_jobs

COMPILE_CACHE = r"(?:torchinductor[_/]|torch_compile_cache|torch_aot_compile|inductor_cache|\.cache/(?:vllm|flashinfer|torch_extensions)\b)"
CAUSE = "jobs share a compile cache, and one job left half a file"

SIGNATURES = (
    Signature(
        pattern=r"vLLM failed to compile the model|failed to get the hash of the compiled graph",
        sample="RuntimeError: vLLM failed to compile the model. The most likely reason for this is that a previous compilation failed, leading to a corrupted compilation artifact.",
        explain=CAUSE,
        versions="vllm",
    ),
    Signature(
        pattern=rf"{FILE_ERROR}.{{0,200}}{COMPILE_CACHE}|{COMPILE_CACHE}\S{{0,200}}: {FILE_ERROR}",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/tmp/torchinductor_user/4f/c4fab.py'",
        explain="jobs share a compile cache, and one job removed files that another uses",
        versions="torch inductor, vllm",
        refines=("IMG007", "ENV002"),
    ),
    Signature(
        pattern=r"The file lock '\S{0,300}(?:\.cache|torch_compile|flashinfer|inductor|triton)\S{0,200}' could not be acquired|/\.cache/\S{1,300}', needed by .{1,200}missing and no known rule|torch_extensions/\S{1,200}\.so: (?:cannot open shared object|file too short)",
        sample="filelock._error.Timeout: The file lock '/home/user/.cache/flashinfer/0.5/90a/cached_ops/batch_decode.lock' could not be acquired.",
        explain="jobs share a compile cache, and one job waits for another or removes its files",
        versions="flashinfer, torch",
    ),
    Signature(
        pattern=r"\bEOFError: Ran out of input|UnpicklingError|JSONDecodeError|BadZipFile|Bytes object is corrupted|invalid ELF header|file too short",
        sample="EOFError: Ran out of input",
        explain=CAUSE,
        versions="torch inductor, vllm",
        near=r"torchinductor|torch_compile_cache|inductor_cache|_inductor/(?:codecache|remote_cache|runtime/\w*cache)|triton/runtime/cache|compilation/(?:compiler_interface|backends)|\.triton/cache",
        within=40,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:compil\w+|inductor|flashinfer|aot|kernel) cache\b.{{0,100}}(?:{BROKEN}|{NETWORK}|permission)|{BROKEN} (?:compil\w+|cached?) (?:artifact|kernel|graph|file)",
    sample="RuntimeError: compile cache of vLLM is corrupt",
    explain="jobs share a compile cache, and one job left half a file or removed it",
    versions="any",
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
    unseen = [place.unreadable for place in others if place.unreadable]
    if unseen and not findings:
        raise CouldNotLook("; ".join(unseen))
    yield from findings


def _judged(place: CachePlace, job_id: str | None, moves: Mapping[str, str]) -> Iterator[Finding]:
    cache = place.cache
    if cache is None:
        return
    if place.broken:
        seen, expected = place.broken, "a directory that this user can write and load code from"
        yield _finding(cache, seen, expected, Severity.WARNING, moves)
    elif place.remote:
        expected = "a directory of this job on the node's own disk"
        yield _finding(cache, place.remote, expected, Severity.WARNING, moves)
    elif not place.unreadable and is_shared_by_jobs(cache, job_id):
        seen = f"{place.path} is used by every job of this user on this node"
        yield _finding(cache, seen, f"a directory that only job {job_id} uses", Severity.INFO, moves)


def _finding(cache: Cache, seen: str, expected: str, severity: Severity, moves: Mapping[str, str]) -> Finding:
    settings = {name: value for name, value in moves.items() if name == cache.variable}
    summary = "move the cache to the node" if settings else "find a local disk for the cache: no place here is fit"
    return Finding(
        message=f"{cache.program}'s cache: {seen}; expected {expected}",
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=summary, settings=settings, safe=bool(settings)),
    )
