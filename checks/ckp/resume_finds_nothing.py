"""The run would not find the checkpoint to resume from.

## What it does
Checks the checkpoint directory by names and sizes: which `global_step_N` are complete, and which one verl's tracker
file names. With `resume_from`, checks the checkpoint that it names.

## Why it breaks training
verl trusts only its tracker file. If the file is missing or names a missing directory, verl silently trains from the
model again and overwrites the existing checkpoints. An empty tracker (the job was killed while it wrote the file) or
an incomplete step ends the run after minutes of loading. `skyrl-train` searches the directory itself: it resumes from
the last complete checkpoint, and refuses to start if there was one and none can be loaded.

## How to fix
Write the last complete step into the tracker (`skyrl-train checkpoints list DIR` shows it), or set `resume =
"disable"`.

## Example
    Checkpoint tracker file does not exist: /ckpt/run/latest_checkpointed_iteration.txt
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.facts.checkpoints import AUTO, BY_PATH, Checkpoints
from skyrl_doctor.plan.findings import required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.checkpoints.layout import TRACKER

STARTED_ANEW = "the run did not find its checkpoint and started from the model"
NOT_FOUND = "the run did not find the checkpoint to resume from"

KEYS = ("trainer.resume", "trainer.checkpoint_dir")

SIGNATURES = (
    Signature(
        pattern=r"[Cc]heckpoint tracker file does not exist",
        sample="Checkpoint tracker file does not exist: /ckpt/run/latest_checkpointed_iteration.txt",
        explain="verl's tracker file, which names the last checkpoint, is missing",
        versions="verl",
        role=Part.CONFIRMATION,
    ),
    Signature(
        pattern=r"^Training from scratch",
        sample="Training from scratch",
        explain=STARTED_ANEW,
        versions="verl",
        near=r"global_step_\d+|SLURM_RESTART_COUNT\W{1,3}[1-9]|[Rr]esum(?:ing|ed) (?:from|training|run)|resume_from_path\W{1,4}/",
        within=100000,
        fatal=False,
    ),
    Signature(
        pattern=r"resume ckpt must specify the global_steps|\b[Cc]heckpoint does not exist: ",
        sample="AssertionError: resume ckpt must specify the global_steps",
        explain="resume_from_path does not name an existing global_step_N",
        versions="verl",
    ),
    Signature(
        pattern=r"No such file or directory: '\S{1,300}/\.metadata'",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/step_20/trainer/.metadata'",
        explain="the checkpoint to resume from is incomplete or missing",
        versions="torch",
        near=r"distributed/checkpoint",
        within=12,
    ),
    Signature(
        pattern=r"[Nn]o (?:valid |existing |saved )?checkpoints? (?:was |were )?(?:found|in|at)\b|[Cc]ould not find (?:any |a )?checkpoint|[Cc]heckpoint (?:path|directory|dir|folder)\b.{0,200}(?:does not exist|not found)",
        sample="No checkpoint found in /ckpt/run, starting from scratch",
        explain=STARTED_ANEW,
        versions="SkyRL, prime-rl",
        near=r"global_step_\d+|SLURM_RESTART_COUNT\W{1,3}[1-9]|[Rr]esum(?:ing|ed) (?:from|training|run)|resume_from_path\W{1,4}/",
        within=100000,
        fatal=False,
    ),
    Signature(
        pattern=r"\bUnable to find latest file at \S{1,300}, if trying to load latest",
        sample="[WARNING] [engine.py:2755:load_checkpoint] Unable to find latest file at /ckpt/run/latest, if trying to load latest please ensure this file exists",
        explain=NOT_FOUND,
        versions="deepspeed",
    ),
    Signature(
        pattern=r"Can't find a valid checkpoint at|Error: No valid checkpoint found in|Error: .{0,40}[Nn]o checkpoints? (?:was |were )?found\b|(?:Error|Exception): (?:[\w-]{1,20} ){0,3}[Cc]heckpoint (?:file |path |directory |dir |folder )?(?!(?:file )?is corrupt).{0,200}(?:not found|does not exist)\b(?! in state_dict)|\bInvalid for universal checkpoint: \S{1,300} does not exist|\bresume_from_path must (?:be an existing path|be null or an existing|specify the global_steps)|\bRecover info directory \S{1,300} does not exist|\bNo weight directory found for checkpoint step\b|\bresume state files? (?:\S{1,200} )?(?:is|are) missing|\bseems a bogus DeepSpeed checkpoint folder|resume ckpt must|latest_ckpt_global_step\.txt.{0,60}(?:No such|not found|does not exist)|No such file or directory: '\S{1,200}(?:latest_ckpt_global_step|latest_checkpointed_iteration)\.txt",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/run/latest_ckpt_global_step.txt'",
        explain=NOT_FOUND,
        versions="SkyRL",
    ),
    Signature(
        pattern=r"\b(?:FileNotFoundError|OSError): (?:\[Errno 2\] )?No such file or directory: ['\"](?P<file>[^'\"\n]{0,300}(?:checkpoint|ckpt|global_step_?\d|iter_\d|epoch[=_-]?\d)[^'\"\n]{0,150}\.(?:tar|pt|pth|pt2|ckpt|bin|pkl|safetensors|distcp))['\"]",
        near=r"\btorch\.load\(|torch/serialization\.py|\bin load_(?:checkpoint|state|from)\w{0,30}\b|\bsafe_open\(|\bresume\w{0,20}\(",
        within=16,
        unless=r"world_size_\d",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/w/outputs/own_run/checkpoint_best.tar'",
        explain="the checkpoint {file}, from which the run resumes or starts, does not exist where this process looks for it",
        remedy="List its directory on the node that reads it (`ls -l`). Correct the path, run what writes it first, or start without it. A relative path counts from the directory in which the job runs.",
        versions="torch",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:cannot|can't|could not|unable to|failed to) (?:resume|restore|continue) (?:training )?(?:from\b|the (?:run|checkpoint))|\bno checkpoint to (?:resume|restore|continue)\b",
    sample="ValueError: cannot resume from /ckpt/run/global_step_40: directory is empty",
    explain=NOT_FOUND,
    versions="any",
    unless="(?i:world.?size|ranks?\\b|shape|size mismatch|memory|no space|agent state|session)",
)

RESUME, FROM, OWN = "trainer.resume", "trainer.resume_from", "run-config"
SHOWN = 3


@check("CKP001", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/checkpoints/resume.py")
def resume_finds_nothing(plan: Plan, there: Checkpoints) -> Iterator[Finding]:
    mode = required(plan).text(RESUME) or AUTO
    if mode == BY_PATH:
        yield from _named(plan, there)
    elif mode != AUTO:
        raise NotApplicable(f"{plan.name(RESUME)} is {mode!r}, so no checkpoint is loaded")
    elif there.unknown:
        raise NotApplicable(there.unknown)
    elif there.found and plan.is_of(OWN):
        yield from _ours(plan, there)
    elif there.found:
        yield from _verls(plan, there)


def _named(plan: Plan, there: Checkpoints) -> Iterator[Finding]:
    if there.named is None:
        why = "names no checkpoint"
    elif there.named.faults:
        why = f"names {there.named.path}: {'; '.join(there.named.faults[:SHOWN])}"
    else:
        return
    good = there.last_good
    expected = good.path if good else "a complete global_step_N"
    settings = plan.settings({FROM: good.path}) if good else {}
    remedy = Remedy(kind=RemedyKind.FIX_CONFIG, summary="name a complete checkpoint", settings=settings)
    message = f"{plan.name(FROM)} {why}; expected {expected}"
    yield Finding(message=message, location=plan.place(FROM), remedy=remedy, severity=Severity.ERROR)


def _ours(plan: Plan, there: Checkpoints) -> Iterator[Finding]:
    if there.last_good is None and (there.tracked is not None or any(one.marked for one in there.found)):
        evidence = tuple(f"{one.path}: {'; '.join(one.faults[:SHOWN])}" for one in there.found)
        message = f"{there.root} had a complete checkpoint but has none now, so the start is refused; expected one to resume from"
        settings = plan.settings({RESUME: "disable"})
        remedy = Remedy(kind=RemedyKind.FIX_CONFIG, summary="restore it, or start from the model", settings=settings)
        where = plan.place(RESUME)
        yield Finding(message=message, evidence=evidence, location=where, remedy=remedy, severity=Severity.ERROR)


def _verls(plan: Plan, there: Checkpoints) -> Iterator[Finding]:
    taken, newest = there.taken(AUTO, ours=False), there.found[-1]
    if taken is not None and taken.complete:
        return
    good = there.last_good
    anew, severity = "verl starts from the model and overwrites it", Severity.WARNING
    if taken is not None:
        stands = f"names {taken.path}, which is incomplete ({'; '.join(taken.faults[:SHOWN])})"
        anew, severity = "verl fails to load it", Severity.ERROR
    elif there.tracker is None:
        stands = "is missing"
    elif there.tracked is None:
        stands = f"contains {there.tracker!r}"
        anew, severity = "verl fails to read it", Severity.ERROR
    else:
        stands = f"names step {there.tracked}, which does not exist"
    expected = str(good.step) if good else "a complete checkpoint"
    message = f"{newest.path} exists, but {there.root}/{TRACKER} {stands}, so {anew}; expected {expected}"
    yield Finding(message=message, location=plan.place(RESUME), remedy=_remedy(plan, there), severity=severity)


def _remedy(plan: Plan, there: Checkpoints) -> Remedy:
    good = there.last_good
    if good is None:
        settings = plan.settings({RESUME: "disable"})
        return Remedy(
            kind=RemedyKind.FIX_CONFIG, summary="no checkpoint is complete: start from the model", settings=settings
        )
    command = f"printf {good.step} > '{there.root}/{TRACKER}'"
    return Remedy(
        kind=RemedyKind.RESET_STORE, summary="write the last complete step into the tracker", commands=(command,)
    )
