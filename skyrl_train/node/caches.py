"""Where compilers keep their caches, and a directory on the node for them.

Triton, vLLM, Inductor and FlashInfer write shared libraries into a cache and load them at once. On a network file
system, a write by another node makes a loaded library stale, and two jobs in one directory read each other's
half-written files.
"""

import os
import re
from collections.abc import Collection, Mapping

from skyrl_train.contracts.record import record
from skyrl_train.node.settings import Directory, Preparation, Setting

TRITON = "Triton"
SYSTEM_TMP = "/tmp"  # noqa: S108 -- the programs' own default
_TMP_VARIABLES = ("TMPDIR", "TEMP", "TMP")
_USER_VARIABLES = ("LOGNAME", "USER", "LNAME", "USERNAME")
_NO_FILE_NAME = re.compile(r'[\\/:*?"<>|]')


@record(kw_only=True)
class Cache:
    """A program's cache: the variable that decided its path, the path, and the variable that moves it.

    `frail`: two jobs at once damage it even on a local disk. A relative path starts at the working directory.
    """

    program: str
    variable: str
    decided_by: str
    path: str
    frail: bool = False

    @property
    def cures(self) -> str:
        return "ENV002" if self.program == TRITON else "ENV010"


def caches(environ: Mapping[str, str], *, home: str, user: str) -> tuple[Cache, ...]:
    """The cache of each program. All of them treat an empty variable as set."""
    return (
        _triton(environ, home.rstrip("/")),
        _vllm(environ, home.rstrip("/")),
        _inductor(environ, user),
        _flashinfer(environ, home.rstrip("/")),
    )


def _triton(environ: Mapping[str, str], home: str) -> Cache:
    decided_by = _first_set(environ, "TRITON_CACHE_DIR", "TRITON_HOME")
    paths = {
        "TRITON_CACHE_DIR": environ.get("TRITON_CACHE_DIR", ""),
        "TRITON_HOME": os.path.join(environ.get("TRITON_HOME", ""), ".triton", "cache"),
        "HOME": f"{home}/.triton/cache",
    }
    return Cache(program=TRITON, variable="TRITON_CACHE_DIR", decided_by=decided_by, path=paths[decided_by])


def _vllm(environ: Mapping[str, str], home: str) -> Cache:
    decided_by = _first_set(environ, "VLLM_CACHE_ROOT", "XDG_CACHE_HOME")
    paths = {
        "VLLM_CACHE_ROOT": _expand(environ.get("VLLM_CACHE_ROOT", ""), home),
        "XDG_CACHE_HOME": _expand(os.path.join(environ.get("XDG_CACHE_HOME", ""), "vllm"), home),
        "HOME": f"{home}/.cache/vllm",
    }
    return Cache(program="vLLM", variable="VLLM_CACHE_ROOT", decided_by=decided_by, path=paths[decided_by], frail=True)


def _inductor(environ: Mapping[str, str], user: str) -> Cache:
    variable = decided_by = "TORCHINDUCTOR_CACHE_DIR"
    path = environ.get(variable)
    if path is None:
        decided_by = next((name for name in _TMP_VARIABLES if environ.get(name)), "")
        name = next((environ[name] for name in _USER_VARIABLES if environ.get(name)), user)
        base = environ.get(decided_by, SYSTEM_TMP)
        path = os.path.join(base, "torchinductor_" + _NO_FILE_NAME.sub("_", name))
    return Cache(program="Inductor", variable=variable, decided_by=decided_by, path=path, frail=True)


def _flashinfer(environ: Mapping[str, str], home: str) -> Cache:
    variable = "FLASHINFER_WORKSPACE_BASE"
    path = os.path.join(environ.get(variable, home or "/"), ".cache", "flashinfer")
    return Cache(program="FlashInfer", variable=variable, decided_by=_first_set(environ, variable), path=path)


def is_of_job(path: str, job_id: str) -> bool:
    """Whether a path contains the id of this job, not as part of a longer number."""
    return re.search(rf"(?<!\d){re.escape(job_id)}(?!\d)", path) is not None


def is_shared_by_jobs(cache: Cache, job_id: str | None) -> bool:
    """Whether a second job on this node would write into the same cache and damage it."""
    return bool(job_id) and cache.frail and not is_of_job(cache.path, job_id or "")


def scratch_candidates(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Directories for scratch on the node, best first. Relative paths are left out."""
    named = (environ.get("SLURM_TMPDIR", ""), environ.get("TMPDIR", ""), SYSTEM_TMP)
    return tuple(dict.fromkeys(path.rstrip("/") for path in named if path.startswith("/") and path.strip("/")))


def job_directory(base: str, *, uid: int, job_id: str | None) -> str:
    return f"{base}/skyrl-{uid}-{job_id}" if job_id else f"{base}/skyrl-{uid}"


def cache_settings(
    environ: Mapping[str, str], *, home: str, user: str, uid: int, job_id: str | None, unfit: Collection[str] = ()
) -> Preparation:
    """Settings that move caches into a directory of the job on the node.

    `unfit` are the paths from `caches` and `scratch_candidates` that are on a network file system, mounted noexec or not
    writable. If no other path is left, nothing is moved.
    """
    base = next((path for path in scratch_candidates(environ) if path not in unfit), None)
    if base is None:
        return Preparation()
    directory = job_directory(base, uid=uid, job_id=job_id)
    moved = [
        cache
        for cache in caches(environ, home=home, user=user)
        if not cache.path or cache.path in unfit or is_shared_by_jobs(cache, job_id)
    ]
    directories = [f"{directory}/{cache.program.lower()}" for cache in moved]
    return Preparation(
        settings=tuple(_setting(cache, path) for cache, path in zip(moved, directories, strict=True)),
        directories=tuple(Directory(path=path) for path in ([directory, *directories] if directories else [])),
    )


def _setting(cache: Cache, path: str) -> Setting:
    why = f"{cache.program} writes its compiled code to this node, in a directory of this job"
    return Setting(name=cache.variable, value=path, cures=cache.cures, why=why)  # FIX(ENV002) FIX(ENV010)


def _first_set(environ: Mapping[str, str], *names: str) -> str:
    return next((name for name in names if name in environ), "HOME")


def _expand(path: str, home: str) -> str:
    """The path with ~ replaced by the home directory. vLLM does this with its path; Triton and Inductor do not."""
    return home + path[1:] if path == "~" or path.startswith("~/") else path
