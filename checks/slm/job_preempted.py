"""Slurm took the nodes back for another job.

## What it does
Finds Slurm's note that the job was preempted or requeued, and the notes of submitit.

## Why it breaks training
A partition with preemption gives its nodes to jobs of a higher priority. Slurm sends SIGTERM and, some seconds later,
SIGKILL. Work since the last checkpoint is lost.

## How to fix
Save more often than jobs are preempted, submit with `--requeue` and `--signal=B:USR1@120`, and resume at the start. Use
a partition or QOS without preemption for runs that must not stop.

## Example
    slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 DUE TO PREEMPTION ***
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "Slurm preempted or requeued the job: another job took its nodes"
REQUEUE = "Submit again with `--requeue` and resume from the last checkpoint. Save more often (`{key:trainer.save_every_steps}`), or use a partition or QOS without preemption."
KEYS = ("trainer.save_every_steps",)

SIGNATURES = (
    Signature(
        pattern=r"\bDUE TO (?:PREEMPTION|JOB REQUEUE)\b|\b(?:JobState|State)[=:] ?PREEMPTED\b|^\s{0,4}\d{1,12}(?:\.\w{1,12})? .{1,120} PREEMPTED {1,30}\d{1,3}:\d|\bthis job is preempted\b|\bRun time [\d:-]{4,16}, PREEMPTED\b|\bpreempted JobId=\d{1,12}\S{0,20} (?:has been|had to be) (?:requeued|killed|cancelled)\b|\bJob (?:\d{1,12} )?has been preempted\b",
        sample="slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 DUE TO PREEMPTION ***",
        explain=CAUSE,
        remedy=REQUEUE,
        versions="slurm, submitit",
    ),
    Signature(
        pattern=r"\bjob \d{1,12} ended without a report: JobState=PREEMPTED\b",
        sample="skyrl-train job: runtime: the trainer job 4711 ended without a report: JobState=PREEMPTED Reason=None",
        explain=CAUSE,
        remedy=REQUEUE,
        versions="skyrl-train",
    ),
)
