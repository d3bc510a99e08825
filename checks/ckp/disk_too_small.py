"""The disk has no room for the checkpoints of the run.

## What it does
Computes the size of one checkpoint from the model's shape (weights and Adam's two states in the master precision, and
those of the critic). Compares the checkpoints that are kept, and one more, with the free space in their directory. A
quota that the file system does not report is not seen. Too little for one checkpoint is an error on a GPU node and with
`--role`, otherwise a warning, because the GPU node may have another disk.

## Why it breaks training
A checkpoint of a fully trained 7B model takes 85 GB. The first save fails after the first steps and leaves half a
checkpoint on a full disk. Logs and sandboxes on that disk then fail too.

## How to fix
Save to another disk, keep fewer checkpoints, or remove old ones: `skyrl-train checkpoints prune DIR`. If `df -h` shows free
space, look at the inodes (`df -i`) and at your quota (`quota -s`): many small files use up inodes.

## Example
    OSError: [Errno 28] No space left on device: '/ckpt/global_step_40'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.checkpoints import Checkpoints, CheckpointSize
from skyrl_doctor.facts.gpu.budget import in_gib
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.checkpoints.rules import at_once

NO_DISK = (
    r"(?i:inotify|fsnotify|/cgroup/|\bsem(?:get|_open)\b|cannot clone:|\bclone: |user namespace|/dev/shm|\bshm\b|shared memory|posix_fallocate|</torch_|\bsemlock\b|\bsemaphores?\b(?!/)|joblib will operate in serial mode"
    r"|keyring|session key|\bkeyctl\b|num_locks|allocating lock|\b(?:locks? in|free locks)\b|daytona|\be2b\b|\bmodal\b|sandbox(?:es)?\b.{0,60}\bquota|\bquota\b.{0,60}\bsandbox)"
)
"Other resources (of the kernel, of Podman, of a provider of sandboxes) are reported in the same words."
NO_DISK_ABOVE = r"/multiprocessing/(?:synchronize|heap|shared_memory|queues)\.py|/(?:watchdog|watchfiles|inotify\w*)/|_share_f(?:ilename|d)_cpu_|\bshm_open\b"
"Python code that asks for shared memory or watches files."

SPACE = "`df -h DIR` and `df -i DIR` show whether the space or the inodes are used up (many small files use up inodes). Remove old checkpoints, caches and logs there, keep fewer checkpoints (`{key:trainer.checkpoints_to_keep}`), or write to another disk. A save that failed left half a checkpoint: remove it before you resume."
QUOTA = "`quota -s` (Lustre: `lfs quota -h -u $USER DIR`) shows the limit; `df` may show free space all the same. Remove old checkpoints, caches and logs there, keep fewer checkpoints (`{key:trainer.checkpoints_to_keep}`), or write to a file system with more room for you. A save that failed left half a checkpoint: remove it before you resume."
QUOTA_CAUSE = "your quota on this file system is used up: its space or its number of files"
CAUSE = "the disk, its inodes or your quota is used up (df -h, df -i, quota -s); keep fewer checkpoints or write them elsewhere"

KEYS = ("trainer.checkpoint_dir", "trainer.save_every_steps", "trainer.checkpoints_to_keep")

CACHES = (
    (
        r"vllm",
        "VLLM_CACHE_ROOT",
        ".cache/vllm",
        "the disk or your quota is used up where vLLM's compile cache lies: {path}",
    ),
    (
        r"torchinductor(?:_\w{1,40})?|inductor_cache",
        "TORCHINDUCTOR_CACHE_DIR",
        "torchinductor_own",
        "the disk or your quota is used up where torch's compile cache lies: {path}",
    ),
    (
        r"\.?triton",
        "TRITON_CACHE_DIR",
        ".triton",
        "the disk or your quota is used up where Triton's compile cache lies: {path}",
    ),
    (
        r"huggingface",
        "HF_HOME",
        ".cache/huggingface",
        "the disk or your quota is used up where the cache of models and data sets lies: {path}",
    ),
    (
        r"pip",
        "PIP_CACHE_DIR",
        ".cache/pip",
        "the disk or your quota is used up where pip's cache lies: {path}",
    ),
    (
        r"uv",
        "UV_CACHE_DIR",
        ".cache/uv",
        "the disk or your quota is used up where uv's cache lies: {path}",
    ),
    (
        r"flashinfer",
        "FLASHINFER_WORKSPACE_BASE",
        ".cache/flashinfer",
        "the disk or your quota is used up where FlashInfer's compile cache lies: {path}",
    ),
)
"""The directory of a cache below the home or its `.cache`, the variable that moves it, an example, and the cause."""
CACHE_FULL = r"(?:[Dd]isk quota exceeded|[Nn]o space left on device|\[Errno (?:28|122)\])[^\n]{0,60}?['\"(](?P<path>/[^'\"\n]{0,300}?/(?:\.cache/|(?=\.triton/|torchinductor_))"


def _cache_full(directory: str, variable: str, example: str, cause: str) -> Signature:
    return Signature(
        pattern=rf"{CACHE_FULL}(?:{directory})/)",
        sample=f"OSError: [Errno 122] Disk quota exceeded: '/home/own/{example}/6dcc7a/x.tmp'",
        explain=cause,
        remedy=f"Set `{variable}` to a directory on project or scratch space with room, in the job script, or empty the cache: `du -sh ~/.cache/* ~/.triton`. `quota -s` (Lustre: `lfs quota -h -u $USER DIR`) shows the limit, of the number of files too; `df` may show free space all the same.",
        versions="any",
        unless=NO_DISK,
        unless_above=NO_DISK_ABOVE,
    )


SIGNATURES = (
    *(_cache_full(*cache) for cache in CACHES),
    Signature(
        pattern=r"\[Errno 28\] No space left on device|\[WinError 112\]",
        near=r"File \"(?P<drive>[A-Za-z]:)\\",
        within=12,
        sample="OSError: [Errno 28] No space left on device",
        explain="the drive that the file is written to is full",
        remedy="Remove old checkpoints and logs from it, keep fewer, or save to another drive.",
        versions="any",
        unless=NO_DISK,
        unless_above=NO_DISK_ABOVE,
    ),
    Signature(
        pattern=r"\bDisk quota exceeded\b|\bFilesystemQuotaExceeded\b|\bwrite failed, (?:user|group|project) (?:block|file) limit reached|\[Errno 122\]",
        sample="OSError: [Errno 122] Disk quota exceeded: '/home/own/ckpt/global_step_40'",
        explain=QUOTA_CAUSE,
        remedy=QUOTA,
        versions="any",
        unless=NO_DISK,
        unless_above=NO_DISK_ABOVE,
    ),
    Signature(
        pattern=r"\b[Nn]o space left on device\b|PytorchStreamWriter failed writing",
        sample="OSError: [Errno 28] No space left on device: '/ckpt/global_step_40'",
        explain=CAUSE,
        remedy=SPACE,
        versions="any",
        unless=NO_DISK,
        unless_above=NO_DISK_ABOVE,
    ),
    Signature(
        pattern=r"\bStorageFull\b|\[Errno 28\]|inline_container\.cc:\d+\] . (?:unexpected pos|PytorchStreamWriter)|unexpected pos \d+ vs \d+|\bwrite\(\): fd \d+ failed with|basic_ios::clear: iostream error|[Dd]isk is full|[Qq]uota exceeded|\bWrote only \d+ of \d+ bytes|\b\d{1,15} requested and \d{1,15} written\b|\bOutOfDiskError\b|\bEXT4-fs\b.{0,160}\bwith error 28\b",
        sample="RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 5120 vs 5012",
        explain=CAUSE,
        remedy=SPACE,
        versions="torch, safetensors",
        unless=rf"{NO_DISK}|(?i:quota metric|rate.?limit|requests per|tokens per)",
        unless_above=NO_DISK_ABOVE,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:disk|file ?system|volume|device|scratch|partition)\b.{0,12}\b(?:is )?full\b|\b(?:out of|no|insufficient|not enough) (?:free |more )?disk space\b|\bnot enough (?:free )?space (?:left )?(?:on|in) /|\bquota\b.{0,20}\bexceeded\b",
    sample="RuntimeError: could not save checkpoint: disk full (/scratch, 0 bytes free)",
    explain=CAUSE,
    versions="any",
    unless=rf"{NO_DISK}|(?i:tokens|requests|rate|billing|api|plan\\b)",
)

EVERY, KEEP, STEPS, PLACE = (
    "trainer.save_every_steps",
    "trainer.checkpoints_to_keep",
    "trainer.steps",
    "trainer.checkpoint_dir",
)


@check("CKP003", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/contracts/checkpoints/rules.py")
def disk_too_small(plan: Plan, there: Checkpoints, one: CheckpointSize, roles: Roles) -> Iterator[Finding]:
    every = required(plan).integer(EVERY) or 0
    if every < 1:
        raise NotApplicable(f"{plan.name(EVERY)} is {every}: no checkpoint is saved")
    count = at_once(keep=plan.integer(KEEP), steps=plan.integer(STEPS), every=every)
    present = sum(found.size for found in there.found)
    needed = one.bytes if count is None else max(one.bytes, count * one.bytes - present)
    if there.free >= needed:
        return
    settings, fits = {}, max(1, (there.free + present) // one.bytes - 1)
    if there.free >= one.bytes and (count is None or fits < count - 1):
        settings = plan.settings({KEEP: str(fits)})
    several = "" if needed == one.bytes else f", and up to {count} exist at once"
    message = f"{in_gib(there.free)} are free in {there.root}, but a checkpoint of {one.model} takes {in_gib(one.bytes)}{several}; expected {in_gib(needed)} free"
    severity = Severity.ERROR if there.free < one.bytes and roles.sees_the_run else Severity.WARNING
    yield config_finding(
        message,
        plan.place(PLACE),
        settings,
        summary=f"set {plan.name(PLACE)} to a larger disk, or keep fewer checkpoints",
        severity=severity,
    )
