"""A job hits its time limit, or the runtime job ends before the training that needs it.

## What it does
Compares the time limits of the two jobs. Reports limits that Slurm cannot read, too.

## Why it breaks training
The sandboxes die in the middle of a rollout, and the trainer's connections are refused until its own end.

## How to fix
Give the runtime job at least the time limit of the trainer.

## Example
    CANCELLED AT 2026-01-22T23:02:11 DUE TO TIME LIMIT
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding, finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.walltime import minutes, walltime_violations

CAUSE = "the job hit its time limit"
LONGER = "Submit with a longer limit (`--time`, at most what `sinfo -o '%P %l'` prints) and resume from the last checkpoint. Save more often (`{key:trainer.save_every_steps}`), so that less is lost."

COLLECTIVE = r"\bWatchdog caught collective operation timeout\b|\bProcessGroupNCCL's watchdog got stuck\b|\bTimed out waiting \d{1,12}ms for (?:send|recv) operation\b|\bc10d::ProcessGroupNCCL::"
"""Above the end, these are the cause: the ranks wait until the limit."""

KEYS = ("trainer.save_every_steps",)

SIGNATURES = (
    Signature(
        pattern=r"\b(?:JobState|State)[=:] ?TIMEOUT\b|TIME LIMIT (?:on \S{1,80} )?\*\*\*|[Ww]all ?time (?:limit )?(?:exceeded|reached)|exceeded (?:its )?(?:wall ?time|time limit)|\bTime limit exhausted for\b|\bRun time [\d:-]{4,16}, TIMEOUT\b|^\s{0,4}\d{1,12}(?:\.\w{1,12})? .{1,120} TIMEOUT {1,30}\d{1,3}:\d",
        sample="JobId=4711 JobName=train JobState=TIMEOUT Reason=TimeLimit",
        explain=CAUSE,
        remedy=LONGER,
        versions="slurm",
        unless_above=COLLECTIVE,
    ),
    Signature(
        pattern=r"\bDUE TO TIME LIMIT\b",
        sample="slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 DUE TO TIME LIMIT ***",
        explain=CAUSE,
        remedy=LONGER,
        versions="slurm",
        unless_above=COLLECTIVE,
    ),
    Signature(
        pattern=r"\bTERM_(?:RUNLIMIT|CPULIMIT|DEADLINE|WINDOW): job killed\b|\bPBS: job killed: (?:walltime|cput) \S{1,40} exceeded limit|\bMOAB_INFO:\s{1,4}job exceeded wallclock limit",
        sample="TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        explain=CAUSE,
        remedy="Submit with a longer limit (LSF: `bsub -W`; PBS: `qsub -l walltime=…`) and resume from the last checkpoint. Save more often (`{key:trainer.save_every_steps}`), so that less is lost.",
        versions="lsf, pbs",
        unless_above=COLLECTIVE,
    ),
    Signature(
        pattern=r"\bRequested time limit is invalid|\bTime limit specification required, but not provided|\b(?P<reason>PartitionTimeLimit|(?:QOS|Assoc)MaxWallDurationPerJobLimit)\b",
        sample="sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
        explain="the requested time limit is missing or longer than the partition, QOS or account allows; the job did not run",
        remedy="`sinfo -o '%P %l'` prints the limit of each partition and `sacctmgr show qos format=name,maxwall` that of each QOS. Submit with `--time` within it.",
        versions="slurm",
    ),
    Signature(
        pattern=r"\bjob \d{1,12} ended without a report: JobState=TIMEOUT\b",
        sample="skyrl-train job: runtime: the trainer job 4711 ended without a report: JobState=TIMEOUT Reason=TimeLimit",
        explain=CAUSE,
        remedy=LONGER,
        versions="skyrl-train",
        unless_above=COLLECTIVE,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:wall[- ]?(?:clock)?[- ]?(?:time)?|job time|slurm time)[- ]limit\b|\b(?:hit|reached|exceeded|ran out of|over|used up) (?:its |the |their |your )?(?:wall[- ]?(?:clock|time)|slurm time|job time|time allocation)",
    sample="ERROR job 4711 hit its wall clock limit of 6:00:00 and was terminated",
    explain=CAUSE,
    remedy=LONGER,
    versions="any",
)

TRAINER, RUNTIME = "slurm.trainer_time_limit", "slurm.runtime_time_limit"


@check("SLM001", fix="skyrl_train/config/walltime.py")
def walltime_mismatch(plan: Plan) -> Iterator[Finding]:
    if required(plan).find("sandbox.runtime_url"):
        raise NotApplicable("the configuration uses a runtime that is already running")
    limits = {key: text for key in (TRAINER, RUNTIME) if (text := plan.text(key)) is not None}
    if not limits:
        raise NotApplicable("the configuration sets no time limit")
    wrong = {key: text for key, text in limits.items() if minutes(text) is None}
    for key, text in wrong.items():
        yield config_finding(
            f"{plan.name(key)} = {text!r} is not a valid time for Slurm; expected a value such as 6:00:00",
            plan.place(key),
            plan.settings({key: "6:00:00"}),
        )
    if len(limits) == 2 and not wrong:
        for violation in walltime_violations(trainer=limits[TRAINER], runtime=limits[RUNTIME]):
            yield finding(plan, violation)
