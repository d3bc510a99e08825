"""The job has less host memory than the run needs, so the host runs out of memory.

## What it does
Takes the smallest of the node's memory, the memory limits of the job's control groups and the job's Slurm request,
and compares it with what the plan needs on the host: processes, weights while they are read, and what is offloaded. It is the
figure that `skyrl-doctor budget` prints for each GPU, times the GPUs of a node; for a model that budget does not describe, a
rougher one by the size in its name. It is an error if not even the offloaded part fits. Checks that Ray's
object store fits into `/dev/shm`. On a runtime node it adds up the sandboxes. On a login node it judges the
memory that a launch requests (`slurm.trainer_memory_mib`).

## Why it breaks training
The kernel kills the next process that asks for memory, and the log does not mention memory: a Ray worker "exits
unexpectedly". Ray sees the node's memory and not the job's, so it neither spills nor warns in time. If `/dev/shm` is
too small, Ray puts its object store on disk, and every batch goes through it.

## How to fix
Request as much as the finding names (`slurm.trainer_memory_mib`, `--mem`), or use less of the host's: more nodes, or, if
the GPU has room for the optimiser (see `skyrl-doctor budget`), no offloading of it. A container gets a larger `/dev/shm` with
`--shm-size`.

## Example
    ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task.
    slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step tasks have been OOM Killed.
"""

from collections.abc import Iterator

from checks.vocabulary import FULL, NOT_ENOUGH
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.memory import GIB, SHM, Ceiling, HostMemory
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.ray_start import ray_start
from skyrl_doctor.host_need import host_need
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.host_memory import SMALL_GIB, memory_to_ask_gib, ray_refuses_slow_store, ray_store_bytes

RAY_ENDED_WORKERS = "Ray killed workers because the host's memory ran out"
CAUSE = "the job used more host memory than it was given"
ASK_SLURM = "{slurm:Ask Slurm: `sacct -j JOB -o State,ExitCode,MaxRSS,ReqMem`; OUT_OF_MEMORY, or MaxRSS near ReqMem, is memory. |`sudo dmesg -T` has `Out of memory: Killed process` if the kernel did it. }"
MORE = "Request more host memory (Slurm: `--mem`), or use less of it: fewer data loader workers (`{key:data.loader_workers}`); and if the optimizer is offloaded to the host and the GPU has room for it, `{key:actor.optimizer_offload}=false`. `sacct -j JOB -o MaxRSS,ReqMem` shows what a job used and was given."
MORE_FOR_RAY = "Request more host memory (Slurm: `--mem`), or use less of it: fewer workers (`{key:rollout.agent_workers}`, `{key:data.loader_workers}`); and if the optimizer is offloaded to the host and the GPU has room for it, `{key:actor.optimizer_offload}=false`. Ray kills at 95 % of the memory that it sees (`RAY_memory_usage_threshold`); `ray logs raylet.out` names the largest processes."

KEYS = (
    "slurm.trainer_memory_mib",
    "model.path",
    "actor.param_offload",
    "actor.optimizer_offload",
    "data.loader_workers",
    "rollout.agent_workers",
)

SIGNATURES = (
    Signature(
        pattern=r"killed due to memory pressure \(OOM\)",
        sample="(raylet) 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: ab12, IP: 10.0.0.5)",
        explain=RAY_ENDED_WORKERS,
        remedy=MORE_FOR_RAY,
        versions="ray",
    ),
    Signature(
        pattern=r"killed due to the node running low on memory",
        sample="Worker exit detail: Task was killed due to the node running low on memory.",
        explain=RAY_ENDED_WORKERS,
        remedy=MORE_FOR_RAY,
        versions="ray",
    ),
    Signature(
        pattern=r"\bray\.exceptions\.OutOfMemoryError\b",
        sample="ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
        explain=RAY_ENDED_WORKERS,
        remedy=MORE_FOR_RAY,
        versions="ray",
    ),
    Signature(
        pattern=r"\boom[-_]kill\b|Memory cgroup out of memory|\bOOM Killed\b",
        sample="slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4711.batch. Some of your processes may have been killed by the cgroup out-of-memory handler.",
        explain="the job used more host memory than Slurm gave it",
        remedy=MORE,
        versions="slurm",
    ),
    Signature(
        pattern=r"CUDA error: out of memory",
        sample="RuntimeError: CUDA error: out of memory",
        explain="the host has no memory left for a pinned copy; CUDA reports that in the same words",
        remedy=MORE,
        versions="torch, vllm",
        near=r"pin_memory ?= ?True|\.pin_memory\(|cudaHostAlloc|cumem\.py\", line \d{1,5}, in sleep",
        within=5,
        refines=("MEM001", "MEM002", "MEM006"),
    ),
    Signature(
        pattern=r"\btasks? [\d,\-\[\]]{1,40}: Out Of Memory|\bRun time [\d:-]{4,16}, OUT_OF_MEMORY\b|Exceeded (?:job|step) memory limit|oom_kill event|State[=:] ?OUT_OF_MEMORY|\bexceeded memory limit\b.{0,40}being killed|\b[Rr]eason['\"]?: {0,12}['\"]?OOMKilled\b|\(OOMKilled\)| \d{1,3}/\d{1,3} {1,20}OOMKilled\b",
        sample="srun: error: gpu07: task 0: Out Of Memory",
        explain=CAUSE,
        remedy=MORE,
        versions="slurm",
    ),
    Signature(
        pattern=r"Out of memory: Kill(?:ed)? process \d+|\bKilled process \d{1,9} \(.{1,60}?\)[^\n]{0,40} total-vm:|\bsystemd-oomd killed \d|\bearlyoom\b.{0,40}sending SIG(?:TERM|KILL) to process|invoked oom-killer|\(OOM\) killed|killed by the OOM killer|\bsystemd-oomd(?:\[\d+\])?: Killed ",
        sample="kernel: Out of memory: Killed process 81234 (ray::WorkerDict) total-vm:98342100kB, anon-rss:61234000kB",
        explain=CAUSE,
        remedy=MORE,
        versions="linux, ray",
    ),
    Signature(
        pattern=r"\[Errno 12\] \S|\bfork: .{0,40}Cannot allocate memory|unable to (?:mmap|allocate shared memory).{0,200}Cannot allocate memory|\bfatal error: runtime: (?:out of memory|cannot allocate memory)|\boom_reaper: reaped|\blibgomp: Out of memory allocating|\bx(?:m|re)alloc: cannot allocate|\bArrowMemoryError\b|\bmemory allocation of \d{1,20} bytes failed|DefaultCPUAllocator: (?:can't allocate|not enough) memory|\bstd::bad_alloc\b|_ArrayMemoryError|^MemoryError\b",
        sample="RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 8589934592 bytes. Error code 12 (Cannot allocate memory)",
        explain=CAUSE,
        remedy=MORE,
        versions="torch, python",
    ),
    Signature(
        pattern=r"DataLoader worker \(pid\S{0,3} \d+\) is killed by signal: Killed|\bObjectStoreFullError\b",
        sample="RuntimeError: DataLoader worker (pid 8123) is killed by signal: Killed.",
        explain=CAUSE,
        remedy=MORE,
        versions="torch, ray",
    ),
    Signature(
        pattern=r"\bOUT_OF_ME(?:MORY\b|\+)|\bRayOutOfMemoryError: |\bCannot allocate memory\b|\bcuda(?:HostAlloc|MallocHost|HostRegister)\b.{0,30}(?:out of memory|failed)",
        sample="4711              train OUT_OF_ME+    0:125",
        explain=CAUSE,
        remedy=MORE,
        versions="slurm, ray < 2.3, libc",
        unless=r"(?i:mlock|memlock|static TLS|ibv?_|hugepage|could not register|requeue)",
    ),
    Signature(
        pattern=r"exceeds the memory usage threshold of|\baddress the out of memory issue: \S{1,80}/ray-oom-prevention\.html|\bRay killed (?:this|\d{1,4}) workers?\b",
        sample="(raylet) Memory on the node (IP: 10.0.0.5) was 121.60GB / 128.00GB (0.95), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: ab) because it was the most recently scheduled task",
        explain=CAUSE,
        remedy=MORE_FOR_RAY,
        versions="ray >= 2.3",
    ),
    Signature(
        pattern=r"\bjob \d{1,12} ended without a report: JobState=OUT_OF_MEMORY\b",
        sample="skyrl-train job: runtime: the trainer job 4711 ended without a report: JobState=OUT_OF_MEMORY Reason=OutOfMemory",
        explain=CAUSE,
        remedy=MORE,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\bTERM_(?:MEMLIMIT|SWAP): job killed\b|\bPBS: job killed: (?:p?v?mem|mem_?sw?) \S{1,40} exceeded limit|\b[Jj]ob (?:exceeded a memory resource limit|has exceeded its memory quota)\b",
        sample="TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
        explain="the job used more host memory than its scheduler gave it",
        remedy='Request more host memory (LSF: `bsub -M` and `-R "rusage[mem=…]"`; PBS: `qsub -l mem=…`), or keep less on the host: no optimizer offloading (`{key:actor.optimizer_offload}`), fewer data loader workers (`{key:data.loader_workers}`).',
        versions="lsf, pbs",
    ),
    Signature(
        pattern=r"\bexitcode  : -9\b|\bfailed \(exitcode: -9\) local_rank: |\bSignal 9 \(SIGKILL\) received by PID \d|\bdied with <Signals\.SIGKILL: 9>|\bterminated with signal SIGKILL\b|\bexits with return code = -9\b",
        sample="traceback : Signal 9 (SIGKILL) received by PID 51210",
        explain="a rank was killed (SIGKILL) and no line has the reason: by the kernel when the host's memory ran out, or from outside",
        remedy=f"{ASK_SLURM}{MORE}",
        versions="torchrun, deepspeed, python",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bconfigured object store size \([^()\n]{1,40}\) exceeds /dev/shm size",
        sample="ValueError: The configured object store size (80.0 GB) exceeds /dev/shm size (0.064 GB). This will harm performance.",
        explain="Ray's object store is larger than `/dev/shm`, which holds it",
        remedy="`df -h /dev/shm` shows its size. In a container give it more (`--shm-size`, `--ipc=host`), or lower `object_store_memory` of `ray.init` or `--object-store-memory` of `ray start`.",
        versions="ray",
        unless=r"\bWARN",
    ),
    Signature(
        pattern=r": line \d{1,6}: {1,4}\d{1,9} Killed\b|\bzsh: killed {2,10}\S|^ {0,8}(?:Killed|Get\S{1,2}tet|Processus arr\S{1,2}t\S{1,2}|Terminado \(killed\)|Ucciso)\s*$|^\[\d{1,3}\] ?[+-]? {1,4}(?:\+ )?(?:\d{1,9} {1,4})?[Kk]illed {2,40}\S|\bmake(?:\[\d{1,2}\])?: \*\*\* \[[^\]\n]{1,200}\] Killed",
        sample="train.sh: line 12: 81234 Killed                  python train.py --steps 100",
        explain="a program of the script was killed (SIGKILL) and no line has the reason: by the kernel when the host's memory ran out, or from outside",
        remedy=f"{ASK_SLURM}{MORE}",
        versions="bash, zsh, sh",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bfatal error: Killed signal terminated program \w|\binternal compiler error: Killed \(program|\bdied due to signal 9 \(Kill signal\)|\bcc1(?:plus)?: out of memory allocating \d",
        sample="c++: fatal error: Killed signal terminated program cc1plus",
        explain="the compiler was killed while a package was built: the host's memory ran out",
        remedy="Build with fewer jobs at once (`MAX_JOBS=2`, for Ninja `-j 2`), on a node or in a job with more memory, or install the package as a wheel.",
        versions="gcc, nvcc",
    ),
    Signature(
        pattern=r"\bunable to (?:open|allocate|write to) (?:shared memory|file) [^\n]{0,120}\bNo space left on device \(28\)|\[Errno 28\] No space left on device: '/(?:psm_|torch_|dev/shm/)|\bkilled by signal: Bus error\b|\bUnexpected bus error encountered in worker\b",
        sample="RuntimeError: DataLoader worker (pid 8123) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
        explain="`/dev/shm`, through which the data loader's workers pass their batches, is full or too small",
        remedy="`df -h /dev/shm` shows its size. In a container give it more (`--shm-size=16g`, `--ipc=host`; Kubernetes: an `emptyDir` with `medium: Memory` at /dev/shm). Or use fewer data loader workers (`{key:data.loader_workers}`).",
        keys=("data.loader_workers",),
        versions="torch",
        refines=("CKP003",),
    ),
    Signature(
        pattern=r"\bThe node was low on resource: memory\b",
        sample="The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. Container train was using 61Gi, request is 0, has larger consumption of memory.",
        explain="Kubernetes evicted the pod, because its node had no memory left",
        remedy="Set `resources.requests.memory` (and `limits.memory`) of the container to what it uses; a pod that requests less than it uses is evicted first.",
        versions="kubernetes",
    ),
    Signature(
        pattern=r"\bAttempting to cap object store memory usage at \d{1,15} bytes, but the minimum allowed is|\bamount of memory on this node available for tasks and actors \([^()\n]{1,20}\) is less than",
        sample="ValueError: Attempting to cap object store memory usage at 1048576 bytes, but the minimum allowed is 78643200 bytes.",
        explain="the memory of this node or container is too small for Ray's object store and its workers",
        remedy="Request more host memory, or set the store's size by hand (`object_store_memory` of `ray.init`, `--object-store-memory` of `ray start`) below what the job has.",
        versions="ray",
        unless=r"\bWARN",
    ),
    Signature(
        pattern=r"\bsrun: error: \S{1,80}: tasks? \S{1,40}: Exited with exit code 137\b|\bcommand terminated with exit code 137\b|\bProcess completed with exit code 137\b",
        sample="srun: error: gpu07: task 0: Exited with exit code 137",
        explain="the program was killed (exit status 137 is SIGKILL) and no line has the reason: by the kernel when the memory ran out, or from outside",
        remedy=f"{ASK_SLURM}{MORE}",
        versions="slurm, kubernetes, docker",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\breturned a non-zero code: 137\b|\bdid not complete successfully: exit code: 137\b(?!: context canceled)|\bwhile running (?:runtime|engine|%post section): exit status 137\b|\bexecutor failed running \[[^\n]{1,600}\]: exit code: 137\b|\bwaiting for process to exit: exit status 137\b|\b(?:mksquashfs|create) command failed: (?:signal: killed|exit status 137)|\bexit code: (?:-9|137)\s*$|\bfailed \(signal: 9(?: \(SIGKILL\))?\)",
        sample="The command '/bin/sh -c pip install own-kernels' returned a non-zero code: 137",
        explain="a step of the build was killed (137 is SIGKILL) and no line has the reason: mostly the memory of the machine, or of the builder, ran out",
        remedy="Give the builder more memory (Docker Desktop and `podman machine` have a limit of their own), build fewer images and files at once (`MAX_JOBS=2`), and look with `dmesg -T` for the kernel's line about the killed process.",
        versions="docker, buildkit, podman, kaniko, pip, uv",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:host|system|node|cpu|main|physical) (?:memory|ram)\b.{{0,60}}{FULL}|\b(?:memory|ram) of the (?:host|node|job)\b.{{0,60}}{FULL}|\boom[- ]?killed\b(?!['\"]?[=:] ?false)|\bto free memory \(OOM\)|killed .{{0,60}}out of (?:host |system )?memory|\b{NOT_ENOUGH} (?:host|system|cpu) memory\b",
    sample="ERROR trainer: host memory exhausted: 503.1 of 503.5 GiB used, process was OOM-killed",
    explain=CAUSE,
    remedy=MORE,
    versions="any",
)

OWN = "run-config"
SBATCH = "#SBATCH "
TRAINER_MEMORY, RUNTIME_MEMORY = "slurm.trainer_memory_mib", "slurm.runtime_memory_mib"


@check("ENV007", fix="skyrl_train/node/host_memory.py")
def host_memory_too_small(
    memory: HostMemory, plan: Plan, roles: Roles, environ: Environ, model: ModelFiles | None = None
) -> Iterator[Finding]:
    if Role.GPU in roles:
        yield from _trainer(memory.ceiling, plan, model)
        yield from _object_store(memory, plan, environ)
        return
    asked = plan.integer(TRAINER_MEMORY) if Role.LOGIN in roles and plan.is_of(OWN) else None
    if asked:  # the request of a launch; the login node's own memory is not the job's
        requested = Ceiling(asked << 20, f"{TRAINER_MEMORY} = {asked}")
        yield from _trainer(requested, plan, model, job="the trainer job requests")
    if Role.RUNTIME in roles:
        yield from _sandboxes(memory.ceiling, plan)
    elif not asked:
        raise NotApplicable("a login node does not train, and no configuration of ours names the memory of a job")


def _trainer(ceiling: Ceiling, plan: Plan, model: ModelFiles | None, *, job: str = "this job has") -> Iterator[Finding]:
    seen = f"{job} {ceiling.gib:.1f} GiB of host memory ({ceiling.source})"
    need = host_need(plan, model)
    if need is None:
        if ceiling.gib < SMALL_GIB:
            expected = f"expected {SMALL_GIB:g} GiB or more, because only toy models train with less"
            yield _finding(f"{seen}; {expected}", Severity.WARNING, plan, TRAINER_MEMORY, int(SMALL_GIB))
        return
    if ceiling.gib >= need.gib:
        return
    severity = Severity.ERROR if ceiling.gib < need.resident_gib else Severity.WARNING
    evidence = tuple(f"{name}: {gib:.1f} GiB" for name, gib in need.terms.items())
    yield _finding(f"{seen}; expected {need}", severity, plan, TRAINER_MEMORY, memory_to_ask_gib(need.gib), evidence)


def _object_store(memory: HostMemory, plan: Plan, environ: Environ) -> Iterator[Finding]:
    free = memory.shm_free_bytes
    told = ray_start(plan).store
    by_itself = ray_store_bytes(available=memory.available_bytes, shm_free=free or 0)
    store = by_itself if told is None else told.value
    if free is not None and free >= store:
        return
    refuses = ray_refuses_slow_store(store, environ)
    seen = f"there is no {SHM}" if free is None else f"{SHM} has {free / GIB:.2f} GiB free"
    what = "ray.init() raises ValueError" if refuses else "Ray puts it on disk, into its temporary directory"
    yield Finding(
        message=f"{seen}, but Ray's object store takes {store / GIB:.1f} GiB: {what}; expected {store / GIB:.1f} GiB or more",
        severity=Severity.ERROR if refuses else Severity.WARNING,
        location=told.location if told else None,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary=f"remove your old files from {SHM}, or start the container with a larger one",
            commands=(f"ls -l {SHM}",),
        ),
    )


def _sandboxes(ceiling: Ceiling, plan: Plan) -> Iterator[Finding]:
    count, each = plan.integer("agent.max_parallel"), plan.integer("sandbox.memory_mib")
    if count is None or each is None or ceiling.bytes >= (need := count * each << 20):
        return
    if ceiling.of_node and (plan.integer(RUNTIME_MEMORY) or 0) << 20 >= need:
        return  # this machine is not the node of the runtime job, which asks for enough
    seen = f"this job has {ceiling.gib:.1f} GiB of host memory ({ceiling.source})"
    expected = f"expected {need / GIB:.1f} GiB, because {count} sandboxes may use {each} MiB each"
    yield _finding(f"{seen}; {expected}", Severity.WARNING, plan, RUNTIME_MEMORY, -(-need // GIB))


def _finding(
    message: str, severity: Severity, plan: Plan, key: str, gib: int, evidence: tuple[str, ...] = ()
) -> Finding:
    found = plan.find(key)
    has_key, size = found is not None, str(gib * 1024)
    if found is not None and found.own.startswith(SBATCH):
        size = f"{gib}G"  # without a unit it would be in MiB
    return Finding(
        message=message,
        severity=severity,
        evidence=evidence,
        location=plan.place(key) if has_key else None,
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="request more memory from Slurm",
            commands=() if has_key else (f"sbatch --mem={gib}G …",),
            settings=plan.settings({key: size}) if has_key else {},
        ),
    )
