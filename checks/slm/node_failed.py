"""Slurm lost a node of the job.

## What it does
Finds Slurm's note that a node failed.

## Why it breaks training
The node rebooted, lost its network or its slurmd does not answer. Slurm ends the job on all nodes.

## How to fix
Submit again without the node: `--exclude=NODE`.

## Example
    slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 DUE TO NODE FAILURE ***
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "a node of the job failed or stopped answering Slurm"
WITHOUT = "Submit again with `--exclude=NODE` (`sacct -j JOB -o NodeList%60` lists the nodes, `sinfo -R` the reason), and resume from the last checkpoint."

SIGNATURES = (
    Signature(
        pattern=r"\bDUE TO NODE (?:\S{1,80} )?FAILURE\b|\*\*\* (?:JOB|STEP) \S{1,40} ON (?P<faulty>\S{1,80}) UNCORRECTABLE MEMORY ERROR AT\b|\b(?:JobState|State)[=:] ?NODE_FAIL\b|^\s{0,4}\d{1,12}(?:\.\w{1,12})? .{1,120} NODE_FAIL {1,30}\d{1,3}:\d|\bRun time [\d:-]{4,16}, NODE_FAIL\b|\bJob killed due node failure\b|\bAborting, (?:io error and missing step on|step missing and io error on|can not test connection to|io error with slurmstepd on) node \d|\b[Nn]odes? (?P<down>\S{1,80}) not responding, setting DOWN\b|\bmissing from batch node (?P<lost>\S{1,80}) \(not found|\bNode failure on (?P<node>\S{1,80})",
        sample="slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 DUE TO NODE FAILURE ***",
        explain=CAUSE,
        remedy=WITHOUT,
        versions="slurm",
    ),
    Signature(
        pattern=r"\bjob \d{1,12} ended without a report: JobState=NODE_FAIL\b",
        sample="skyrl-train job: runtime: the trainer job 4711 ended without a report: JobState=NODE_FAIL Reason=NodeDown",
        explain=CAUSE,
        remedy=WITHOUT,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\b(?:Task launch for StepId=\S{1,40} failed on node (?P<node>\S{1,80}?)|Application launch failed): (?:Communication connection failure|Socket timed out|Unable to contact|Connection (?:refused|timed out)|No route to host|Transport endpoint)",
        sample="srun: error: Task launch for StepId=4711.0 failed on node gpu07: Communication connection failure",
        explain="srun could not reach Slurm's daemon on a node of the job",
        remedy=WITHOUT,
        versions="slurm",
    ),
)
