"""Ray starts more processes and threads than the limits of this job allow.

## What it does
Counts the workers that Ray will start, one for each CPU that it sees, and compares the threads that they need with
`ulimit -u`, minus the threads that this user already has on the node, and with `pids.max` of every control group of
the job. Checks whether Ray sees more CPUs than the job has, and the limit of open files.

## Why it breaks training
Ray counts the CPUs of the machine and not those of the job: on a node with 128 CPUs a job with 16 starts 128 workers
at once. They reach the process limit, and the next library that creates a thread fails; or they start so slowly that
the raylet gives up on them.

## How to fix
Set `ray_kwargs.ray_init.num_cpus` to the CPUs of the job; `skyrl-train` does it by itself. Raise the soft limit in
the job script: `ulimit -S -u $(ulimit -H -u)`. If the hard limit is too low, ask your site.

## Example
    Unhandled exception: N5boost10wrapexceptINS_6system12system_errorEEE. what(): thread: Resource temporarily unavailable [system:11]
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.cgroup import Cgroup
from skyrl_doctor.facts.cpus import NodeCpus
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.limits import Limit, Limits
from skyrl_doctor.facts.ray_start import NUM_CPUS, ray_start
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.limits import FEW_OPEN_FILES, RAISE_PROCESSES, ray_num_cpus, threads_at_start, threads_at_work

CAUSE = "no further process, thread or open file was allowed"
NO_THREAD = "no further thread or process was allowed"
RAISE = "Raise the soft limit in the job script: `ulimit -S -u $(ulimit -H -u)`. In a container the limit is of its own (`--pids-limit`, Kubernetes: podPidsLimit). Fewer threads: `OMP_NUM_THREADS=1`{ray:, and with Ray as many CPUs as the job has (`ray start --num-cpus=N`); by itself Ray starts a worker for each CPU of the node|}."
FILES = "Raise the soft limit in the shell or script that starts the program: `ulimit -S -n $(ulimit -H -n)`. If it fails again after hours, the program leaves connections open: `ls /proc/PID/fd | wc -l` grows."

FEWER = "`OMP_NUM_THREADS=1` and `OPENBLAS_NUM_THREADS=1` start fewer threads. If the next line shows a current limit below max: `ulimit -S -u $(ulimit -H -u)`. In a container the limit is of its own (`--pids-limit`, Kubernetes: podPidsLimit)."

SIGNATURES = (
    Signature(
        pattern=r"\bOpenBLAS blas_thread_init: pthread_create\b.{0,80}Resource temporarily unavailable",
        sample="OpenBLAS blas_thread_init: pthread_create: Resource temporarily unavailable",
        explain=NO_THREAD,
        remedy=FEWER,
        versions="openblas",
    ),
    Signature(
        pattern=r"(?:thread|fork|clone|vfork).{0,120}Resource temporarily unavailable",
        sample="terminate called: what(): thread: Resource temporarily unavailable [system:11]",
        explain=NO_THREAD,
        remedy=RAISE,
        versions="ray, openblas",
    ),
    Signature(
        pattern=r"Unable to register worker with raylet",
        sample="Failed to register worker 01000000ffffffff to Raylet. IOError: [RayletClient] Unable to register worker with raylet. No such file or directory",
        explain="Ray started more workers than the node's limits allow",
        remedy=RAISE,
        versions="ray",
    ),
    Signature(
        pattern=r"can't start new thread",
        sample="RuntimeError: can't start new thread",
        explain=NO_THREAD,
        remedy=RAISE,
        versions="python",
    ),
    Signature(
        pattern=r"pthread_create failed|[Tt]hread creation failed|failed to create new OS thread|fork: (?:retry: )?(?:Resource temporarily|No child processes)|\bsh: \d{1,5}: Cannot fork\b|fork rejected by pids controller|background thread creation failed|address space and process count limits are big enough|\bOMP: (?:Error #34: |System error #11: )|\bThreadPoolBuildError\b|\bunable to create native thread\b|\bmay need to increase max user processes\b",
        sample="OpenBLAS blas_thread_init: pthread_create failed for thread 31 of 64: Resource temporarily unavailable",
        explain=CAUSE,
        remedy=RAISE,
        versions="openblas, libgomp, go",
        unless=r"Operation not permitted",  # a container's system call filter, not a limit
    ),
    Signature(
        pattern=r"\[Errno 24\] \S|[Tt]oo many open files|\breceived 0 items of ancdata\b|\bEMFILE\b|\bfile-max limit \d{1,20} reached",
        sample="OSError: [Errno 24] Too many open files: '/tmp/ray/session_latest/sockets/plasma_store'",
        explain="the process has as many open files and sockets as its limit allows (`ulimit -n`)",
        remedy=FILES,
        versions="python",
    ),
    Signature(
        pattern=r"\[Errno 11\] Resource temporarily unavailable|\bRuntimeError: Resource temporarily unavailable$",
        sample="BlockingIOError: [Errno 11] Resource temporarily unavailable",
        explain=NO_THREAD,
        remedy=RAISE,
        versions="python",
    ),
    Signature(
        pattern=r"what\(\): .{0,20}Resource temporarily unavailable|system_errorEEE\. what\(\): thr(?:ead\b|$)|Resource temporarily unavailable \[system:11\]|fork/exec .{0,120}resource temporarily unavailable",
        unless="Operation not permitted",
        sample="[2026-03-02 09:14:03,500 E 812 812] logging.cc:108: Unhandled exception: N5boost10wrapexceptINS_6system12system_errorEEE. what(): thread: Resource temporarily unavailable [system:11]",
        explain=CAUSE,
        remedy=RAISE,
        versions="ray",
    ),
    Signature(
        pattern=r"\b(?:spawn|fork|clone|pthread_create|thread)\b.{0,60}\bEAGAIN\b|\bWouldBlock, message: .{0,3}Resource temporarily",
        sample="Error: spawn /bin/sh EAGAIN",
        explain=CAUSE,
        remedy=RAISE,
        versions="node, rust",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:process|thread|task|pids?|nproc|open files?|file descriptors?)\b.{0,20}\blimit\b.{0,40}(?:reached|exceeded|hit|too low)|\b(?:could not|cannot|can't|unable to|failed to) (?:fork|spawn (?:a |another )?(?:new )?(?:process|thread)|start (?:a |another )?(?:new )?thread|create (?:a |another )?(?:new )?thread)\b",
    sample="RuntimeError: could not fork: process limit reached (ulimit -u 4096)",
    explain=CAUSE,
    versions="any",
)

ROOT = 0
OWN_DIALECT = "run-config"


@record
class Room:
    """Threads that one limit leaves, and those that it would leave where the job may raise it; None: any number."""

    free: int
    words: str
    raised: int | None


@check("ENV008", roles=[Role.GPU], fix="skyrl_train/node/limits.py")
def process_limit_too_low(
    limits: Limits, cgroup: Cgroup, node: NodeCpus, host: Host, environ: Environ, plan: Plan
) -> Iterator[Finding]:
    cpus = ray_num_cpus(environ, usable=host.cpus)
    told = ray_start(plan).num_cpus
    by_itself = cpus if plan.is_of(OWN_DIALECT) else node.online
    workers = by_itself if told is None else told.value
    if workers > cpus:
        yield _too_many_workers(workers, cpus, told.location if told else None)
    for room in _rooms(limits, cgroup, host.uid):
        yield from _judged(room, workers, cpus)
    yield from _open_files(limits.open_files)


def _rooms(limits: Limits, cgroup: Cgroup, uid: int) -> Iterator[Room]:
    soft, hard = limits.processes.soft, limits.processes.hard
    if soft is not None and uid != ROOT:  # the kernel does not hold root to it
        used = limits.threads or 0
        known = f", {used} in use" if limits.threads is not None else ""
        yield Room(soft - used, f"ulimit -u is {soft}{known}", None if hard is None else hard - used)
    if (level := cgroup.least_tasks) is not None:
        known = f", {level.used} in use" if level.used is not None else ""
        yield Room(level.free, f"pids.max of {level.path} is {level.limit}{known}", level.free)


def _judged(room: Room, workers: int, cpus: int) -> Iterator[Finding]:
    least, expected = threads_at_start(workers), threads_at_work(workers)
    if room.free >= expected:
        return
    fails = room.free < least
    need = f"{least} for Ray to start" if fails else f"about {expected} for a run"
    yield Finding(
        message=f"{room.words}, which leaves {max(room.free, 0)} threads; expected {need} with {workers} workers",
        severity=Severity.ERROR if fails else Severity.WARNING,
        remedy=_remedy(room, expected, workers, cpus),
    )


def _remedy(room: Room, expected: int, workers: int, cpus: int) -> Remedy:
    if _holds(room.raised, expected):
        return Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="raise the soft limit in the job script",
            commands=(RAISE_PROCESSES,),
            safe=True,
        )
    if workers > cpus and _holds(room.raised, threads_at_work(cpus)):
        return _fewer_workers(cpus, commands=() if room.free >= threads_at_work(cpus) else (RAISE_PROCESSES,))
    return Remedy(kind=RemedyKind.ASK_ADMIN, summary=f"ask your site to raise this limit to {expected} or more")


def _holds(room: int | None, expected: int) -> bool:
    return room is None or room >= expected


def _too_many_workers(workers: int, cpus: int, place: Location | None) -> Finding:
    return Finding(
        message=f"Ray will start {workers} workers, one for each CPU that it counts, but this job has {cpus} CPUs; expected {NUM_CPUS}={cpus}",
        severity=Severity.WARNING,
        location=place,
        remedy=_fewer_workers(cpus),
    )


def _fewer_workers(cpus: int, commands: tuple[str, ...] = ()) -> Remedy:
    summary = "tell Ray how many CPUs the job has" + (
        ", and raise the soft limit in the job script" if commands else ""
    )
    return Remedy(kind=RemedyKind.FIX_CONFIG, summary=summary, settings={NUM_CPUS: str(cpus)}, commands=commands)


def _open_files(limit: Limit) -> Iterator[Finding]:
    """Ray raises its own soft limit as far as the hard one lets it."""
    if limit.hard is None or limit.hard >= FEW_OPEN_FILES:
        return
    yield Finding(
        message=f"the hard limit of open files (ulimit -H -n) is {limit.hard}; expected {FEW_OPEN_FILES} or more for Ray",
        severity=Severity.WARNING,
        remedy=Remedy(kind=RemedyKind.ASK_ADMIN, summary="ask your site to raise this limit to 65536"),
    )
