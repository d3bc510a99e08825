"""Triton's cache is on a network file system or in an unusable directory.

## What it does
Finds Triton's cache (`$TRITON_CACHE_DIR`, else `$TRITON_HOME/.triton/cache`, else `~/.triton/cache`), follows its
links and checks the file system. It finds a network file system, one mounted `noexec`, and one that this user cannot
write.

## Why it breaks training
Triton writes a shared library and loads it at once. When another node or job replaces it on NFS, the loaded one
becomes a stale handle. One rank dies, and the other ranks wait for it until their watchdog ends them. If the mount is
`noexec` or the directory belongs to another user, the first kernel fails. An empty `TRITON_CACHE_DIR` is an error
too.

## How to fix
Point `TRITON_CACHE_DIR` at a directory of this job on the node's own disk; `skyrl-doctor env` prints one.

## Example
    ImportError: /home/me/.triton/cache/4QJ5/__triton_launcher.so: cannot stat shared object: Stale file handle
"""

from collections.abc import Iterator

from checks.vocabulary import BROKEN, FILE_ERROR, NETWORK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.caches import Caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_train.node.caches import TRITON, cache_settings

TRITON_CACHE = r"(?:/\.triton\b|triton_cache|triton/cache)"
CAUSE = "several users or nodes use Triton's cache at the same time"

SIGNATURES = (
    Signature(
        pattern=r"[Tt]riton.{0,300}[Ss]tale file handle",
        sample="ImportError: /home/user/.triton/cache/ab12/__triton_launcher.cpython-312-x86_64-linux-gnu.so: cannot stat shared object: Stale file handle",
        explain="Triton's cache is on a network file system, which lost the file",
        versions="triton",
    ),
    Signature(
        pattern=rf"{FILE_ERROR}.{{0,300}}{TRITON_CACHE}|[Tt]riton.{{0,300}}[Ss]tale file handle|/\.triton/\S{{0,200}}: {FILE_ERROR}",
        sample="OSError: [Errno 116] Stale file handle: '/home/user/.triton/cache/ab12/matmul.json'",
        explain=CAUSE,
        unless=r"\bdf: ",  # DeepSpeed asks for the file system of a folder that it makes later
        versions="triton",
        refines=("IMG007",),
    ),
    Signature(
        pattern=rf"{TRITON_CACHE}\S{{0,200}}\.so: failed to map segment from shared object",
        sample="ImportError: /home/user/.triton/cache/ab12/cuda_utils.so: failed to map segment from shared object",
        explain="Triton's cache is on a file system from which no program may be loaded (`noexec`), or a file of it is cut off",
        remedy="`findmnt -T ~/.triton` shows the mount's options. Point `TRITON_CACHE_DIR` at a directory on the node's own disk without `noexec`, and remove the old one.",
        versions="triton",
        refines=("ENV011",),
    ),
    Signature(
        pattern=r"\.triton/\S{0,200}\.nfs[0-9a-f]{6}",
        sample="OSError: [Errno 16] Device or resource busy: '/home/user/.triton/cache/ab12/.nfs000000013c0f3f5c00000c1f'",
        explain=CAUSE,
        versions="triton",
        refines=("IMG007",),
    ),
    Signature(
        pattern=r"Error: \[Errno (?:5|16|17|39|116)\] [\w /]{5,40}(?:\W*$|: '(?:\.nfs|tmp\.pid))",
        sample="OSError: [Errno 116] Stale file handle",
        explain="Triton's cache is on a network file system, where processes of several nodes disturb each other",
        versions="triton",
        near=r"triton/runtime/cache\.py|triton/runtime/autotuner",
        within=8,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\btriton\b.{{0,40}}\bcache\b.{{0,100}}(?:{NETWORK}|{BROKEN})",
    sample="RuntimeError: the Triton cache is corrupt",
    explain=CAUSE,
    versions="any",
)


@check("ENV002", roles=[Role.GPU], fix="skyrl_train/node/caches.py")
def triton_cache_on_network_fs(found: Caches, environ: Environ, host: Host) -> Iterator[Finding]:
    place = found.of(TRITON)
    remedy = _remedy(found, environ, host)
    if place.broken:
        message = f"Triton's cache: {place.broken}; expected a directory that this user can write and load code from"
        yield Finding(message=message, remedy=remedy)
    elif place.unreadable:
        raise CouldNotLook(f"Triton's cache: {place.unreadable}")
    elif place.remote:
        message = f"Triton's cache: {place.remote}; expected a directory on the node's own disk"
        yield Finding(message=message, severity=Severity.WARNING, remedy=remedy)


def _remedy(found: Caches, environ: Environ, host: Host) -> Remedy:
    prepared = cache_settings(
        environ,
        home=environ.get("HOME", ""),
        user=host.user,
        uid=host.uid,
        job_id=environ.get("SLURM_JOB_ID"),
        unfit=found.unfit,
    )
    values = {setting.name: setting.value for setting in prepared.settings if setting.cures == "ENV002"}
    settings = {name: value for name, value in values.items() if value is not None}
    summary = "move the cache to the node" if settings else "find a local disk for the cache: no place here is fit"
    return Remedy(kind=RemedyKind.FIX_ENV, summary=summary, settings=settings, safe=bool(settings))
