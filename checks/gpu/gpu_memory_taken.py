"""Another process holds memory on a GPU of this job.

## What it does
Lists the processes on the GPUs and MIG slices of this job. A process belongs to the job if the Slurm job in its
cgroup is the same. It also compares the memory in use with what the listed processes hold. With MIG, the figures are
those of the slice and not of its GPU. Processes on devices that the job does not use are ignored.

## Why it breaks training
vLLM takes its share of the whole device and refuses to start if less is free. A process that ends while vLLM measures
the memory makes an assertion fail. The trainer's peak was planned for an empty device too.

## How to fix
End your own processes (`kill PID`). Otherwise use another node and inform the administrators: a process that outlives
its job keeps its memory until it is killed.

## Example
    ValueError: Free memory on device cuda:0 (48.97/79.18 GiB) on startup is less than desired GPU memory utilization
"""

from collections.abc import Container, Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Device, Gpus, Process, usable
from skyrl_doctor.facts.host import Host
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.vllm import free_mib_wanted

CAUSE = "another process holds memory of the same GPU"

OTHERS = (
    "`nvidia-smi` names the processes on the GPU. End those that an earlier run left (`kill PID`), or use another GPU."
)

HELD_REMEDY = "`nvidia-smi` names the process. End it if it is yours (`kill PID`), such as one that an earlier run left. If it is another user's, use another GPU (`CUDA_VISIBLE_DEVICES`) or another node. If it belongs to this run (a model server on the same GPU), give that server a smaller share of the memory."
OTHER = r"Process (?P<pid>\d{1,8}) has (?P<held>\d{2,3}\.\d\d GiB) memory in use"
LITTLE = r"(?:\d\.\d\d GiB|[\d.]{1,8} (?:MiB|KiB|bytes))"
"""Less than 10 GiB: the other process, with 10 GiB or more, holds more than this one."""
OF_TOTAL = r"total capacity of (?P<total>\d{2,3}\.\d\d GiB) of which "
FEW_OF_MANY = r"{total}\.[0-9]{{2}} GiB total capacity; (?:{most}\.[0-9]{{2}} GiB|[0-9.]{{1,8}} (?:MiB|KiB|bytes)) already allocated; [^;\n]{{1,20}} free; (?:{most}\.[0-9]{{2}} GiB|[0-9.]{{1,8}} (?:MiB|KiB|bytes)) reserved"
"""This process holds little of the GPU's memory, in torch before 2.1."""
OURS = r"/(?:vllm|sglang|verl|skyrl_train|openrlhf|ray)/"
"""In the frames of a run whose own servers hold memory of the same GPU."""

HELD = "another process (pid {pid}) holds {held} of the {total} of this GPU"

SIGNATURES = (
    Signature(
        pattern=rf"{OF_TOTAL}(?=[^\n]{{1,300}}\bthis process has {LITTLE} memory in use)[^\n]{{1,300}}?{OTHER}",
        sample="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.45 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.30 GiB is free. Process 31742 has 22.10 GiB memory in use. Including non-PyTorch memory, this process has 260.00 MiB memory in use. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.",
        explain=HELD,
        remedy=HELD_REMEDY,
        unless_above=OURS,
        refines=("MEM001", "MEM002"),
        versions="torch >= 2.1",
    ),
    Signature(
        pattern=rf"{OF_TOTAL}[^\n]{{1,40}}free\. (?:Process \d{{1,8}} has {LITTLE} memory in use\. ){{0,4}}{OTHER}\. (?:Process \d{{1,8}} has [\d.]{{1,8}} [GM]iB memory in use\. ){{0,4}}Of the allocated memory (?:[0-5]\.\d\d GiB|[\d.]{{1,8}} (?:MiB|KiB|bytes)) is allocated by PyTorch, (?:with [^,\n]{{1,80}}, )?and (?:[0-3]\.\d\d GiB|[\d.]{{1,8}} (?:MiB|KiB|bytes)) is reserved",
        sample="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 68.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 50.94 MiB is free. Process 31742 has 21.40 GiB memory in use. Process 41990 has 2.22 GiB memory in use. Of the allocated memory 1.86 GiB is allocated by PyTorch, and 12.30 MiB is reserved by PyTorch but unallocated.",
        explain=HELD,
        remedy=HELD_REMEDY,
        unless=r"free\. Process \d{1,8} has [\d.]{1,8} GiB memory in use\. Of the allocated",  # one process: in a container it is this one
        unless_above=OURS,
        refines=("MEM001", "MEM002"),
        versions="torch >= 2.1",
    ),
    Signature(
        pattern=rf"\(GPU \d{{1,3}}; (?={FEW_OF_MANY.format(total='(?:[2-9][0-9]|[0-9]{3})', most='[0-5]')}|{FEW_OF_MANY.format(total='(?:[4-9][0-9]|[0-9]{3})', most='1?[0-9]')})(?P<total>[\d.]{{5,7}} GiB) total capacity; [\d.]{{1,8}} \w{{3,5}} already allocated; (?P<free>[\d.]{{1,8}} (?:MiB|KiB|bytes)) free; (?P<own>[\d.]{{1,8}} \w{{3,5}}) reserved",
        sample="RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 23.69 GiB total capacity; 1.86 GiB already allocated; 14.94 MiB free; 1.90 GiB reserved in total by PyTorch)",
        explain="other processes hold most of the {total} of this GPU: this one has {own}, and {free} is free",
        remedy=HELD_REMEDY,
        unless_above=OURS,
        refines=("MEM001", "MEM002"),
        versions="torch < 2.1",
    ),
    Signature(
        pattern=r"Error in memory profiling\. (?:Initial free memory|This happens when)",
        sample="AssertionError: Error in memory profiling. Initial free memory 82.94 GiB, current free memory 90.17 GiB. This happens when other processes sharing the same container release GPU memory while vLLM is profiling",
        explain="another process on the same GPU freed memory while vLLM measured it",
        remedy="Start the servers on one GPU one after the other, each when the one before is ready, or give each a GPU of its own.",
        versions="vllm",
    ),
    Signature(
        pattern=r"CUDA-capable device\(s\) is/are busy or unavailable|all CUDA-capable devices are busy|\bexclusive-thread device already in use by a different thread|\bcudaErrorDeviceAlreadyInUse\b",
        sample="RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
        explain=CAUSE,
        remedy=OTHERS,
        versions="torch",
    ),
    Signature(
        pattern=r"memory capacity is unbalanced\. Some GPUs may be occupied",
        sample="RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
        explain=CAUSE,
        remedy=OTHERS,
        versions="sglang",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bGPU\b.{0,60}(?:used|occupied|held|taken) by (?:an)?other|other processes? (?:hold|use|occup)\w* .{0,40}GPU memory|memory capacity is unbalanced",
    sample="RuntimeError: GPU 0 is used by another process (pid 812)",
    explain=CAUSE,
    versions="any",
)

SHARE = "rollout.gpu_memory_utilization"
UNEXPLAINED_MIB = 1024
"""Less than this the driver may keep for itself."""


@check("GPU003", roles=[Role.GPU], fix="operator: only its owner or an administrator may end a process")
def gpu_memory_taken(gpus: Gpus, plan: Plan, environ: Environ, host: Host) -> Iterator[Finding]:
    devices = usable(gpus, environ)
    if not devices:
        raise NotApplicable("CUDA finds no GPU here (GPU002)")
    share = plan.number(SHARE)
    ids = {environ.get(name) for name in ("SLURM_JOB_ID", "SLURM_JOB_SLUID")} - {None, ""}
    node = environ.get("SLURMD_NODENAME") or host.name
    judged = [(device, list(_on(device, share, ids, host.uid, node))) for device in devices]
    findings = [finding for _, found in judged for finding in found]
    unseen = [device.title for device in devices if device.memory is None and device.processes is None]
    if unseen and not findings:
        raise CouldNotLook(f"{gpus.source} reports neither the memory in use nor the processes of {', '.join(unseen)}")
    yield from findings


def _on(device: Device, share: float | None, ids: Container[str | None], uid: int, node: str) -> Iterator[Finding]:
    listed = device.processes or ()
    others = [process for process in listed if not _is_own(process, ids)]
    if others:
        shown = ", ".join(_shown(process) for process in others[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        evidence = tuple(_shown(process) for process in others)
        yield _finding(device, f"{shown}{more}", evidence, _remedy(others, uid, node), share)
        return
    unexplained = _unexplained(device, listed)
    if unexplained >= UNEXPLAINED_MIB:
        holders = "by processes that cannot be listed" if device.processes is None else "that no listed process holds"
        seen = f"{unexplained} MiB in use {holders}"
        yield _finding(device, seen, (), _remedy([], uid, node), share)


def _is_own(process: Process, ids: Container[str | None]) -> bool:
    return process.owner is not None and process.owner.job in ids


def _unexplained(device: Device, listed: tuple[Process, ...]) -> int:
    held = [process.used_mib for process in listed]
    if device.memory is None or None in held:
        return 0
    return device.memory.used_mib - sum(used or 0 for used in held)


def _shown(process: Process) -> str:
    holds = "an unknown amount" if process.used_mib is None else f"{process.used_mib} MiB"
    owner = process.owner
    if owner is None:
        return f"pid {process.pid} (owner hidden from here) with {holds}"
    job = f"Slurm job {owner.job}" if owner.job else "no Slurm job"
    return f"pid {process.pid} ({owner.name}, uid {owner.uid}, {job}) with {holds}"


def _finding(device: Device, seen: str, evidence: tuple[str, ...], remedy: Remedy, share: float | None) -> Finding:
    memory = device.memory
    room = f"{memory.free_mib} of {memory.total_mib} MiB are free" if memory else "its free memory is unknown"
    needed = free_mib_wanted(memory.total_mib, share) if memory is not None and share is not None else 0
    refused = memory is not None and memory.free_mib < needed
    expected = f"expected {needed} MiB free, otherwise vLLM does not start" if refused else "expected no other process"
    return Finding(
        message=f"{device.title} is used by other processes: {seen}; {room}; {expected}",
        evidence=evidence,
        severity=Severity.ERROR if refused else Severity.WARNING,
        remedy=remedy,
    )


def _remedy(others: list[Process], uid: int, node: str) -> Remedy:
    mine = [process.pid for process in others if process.owner is not None and process.owner.uid == uid]
    if others and len(mine) == len(others):
        pids = " ".join(str(pid) for pid in mine)
        return Remedy(
            kind=RemedyKind.RETRY, summary="end your own processes, then start again", commands=(f"kill {pids}",)
        )
    return Remedy(
        kind=RemedyKind.EXCLUDE_NODE,
        summary=f"use another node and inform the administrators of {node}",
        commands=(f"#SBATCH --exclude={node}",),
    )
