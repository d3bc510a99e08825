"""Slurm cancelled the job on request.

## What it does
Finds Slurm's note that the job was cancelled without another reason: not its time limit (SLM001), not preemption
(SLM012), not a failed node (SLM013).

## Why it breaks training
A person or a script ran `scancel`, or the site removed the job. All steps end at once.

## How to fix
`sacct -j JOB -o State%40` names the user id that cancelled it. Resume from the last checkpoint.

## Example
    slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 ***
"""

from skyrl_doctor.core.signature import Signature

WHO = "`sacct -j JOB -o JobID,State%40,End` shows who: `CANCELLED by UID`. If it was not you, ask the administrators."

SIGNATURES = (
    Signature(
        pattern=r"\*\*\* STEP (?P<step>\d{1,12}(?:_\d{1,9})?\.(?:\d{1,6}|batch|interactive))(?: ON \S{1,200})? CANCELLED AT (?P<time>[\dT:-]{10,25}) (?:DUE (?i:to) SIGNAL [\w ]{1,40})?\*\*\*",
        sample="slurmstepd: error: *** STEP 4711.0 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 ***",
        unless_above=r"srun: error: .{0,80}(?:Exited with exit code|Killed|Aborted|Segmentation|Out Of Memory|Bus error)",
        explain="step {step} was cancelled at {time}: by scancel, or because its srun was ended",
        remedy=WHO,
        versions="slurm",
        last_resort=True,
    ),
    Signature(
        pattern=r"\*\*\* JOB (?P<job>\d{1,12}(?:_\d{1,9})?)(?: ON \S{1,200})? CANCELLED AT (?P<time>[\dT:-]{10,25}) (?:DUE (?i:to) SIGNAL [\w ]{1,40})?\*\*\*",
        sample="slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 ***",
        explain="job {job} was cancelled at {time} with scancel, by a person or a script",
        remedy=WHO,
        versions="slurm",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bCANCELLED by (?P<uid>\d{1,10})\b",
        sample="4711         train   gpu        acct        8 CANCELLED by 1007      0:0",
        explain="the user with id {uid} cancelled the job",
        remedy="`id -un UID` names the user. Resume from the last checkpoint.",
        versions="slurm",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bjob (?P<job>\d{1,12}) ended without a report: JobState=CANCELLED\b",
        sample="skyrl-train job: runtime: the trainer job 4711 ended without a report: JobState=CANCELLED Reason=None",
        explain="job {job} was cancelled with scancel, by a person or a script",
        remedy=WHO,
        versions="skyrl-train",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bRun time [\d:-]{4,16}, CANCELLED\b|\bCANCELLED\+ {1,30}\d{1,3}:\d|\b(?:srun|salloc): (?:error: )?Job allocation (?P<job>\d{1,12}) has been revoked|\b(?:srun|salloc): (?:error: )?Job (?:\d{1,12} )?has been cancell?ed\b",
        sample="salloc: Job allocation 4711 has been revoked.",
        explain="Slurm ended the job's allocation: mostly scancel, by a person or a script",
        remedy=WHO,
        versions="slurm",
        last_resort=True,
    ),
)
