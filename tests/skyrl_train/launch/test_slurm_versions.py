"""What Slurm's commands print from 20.11 to 25.11, in the shapes that sites have published, with values of our own."""

import time

import pytest

from skyrl_train.launch.slurm import JobState, parse_state

HEAD = "JobId=4711 JobName={name} UserId=ann(1000) GroupId=ann(1000) MCS_label=N/A Priority=4294901758 Nice=0 Account=(null) QOS=(null)"
STATE = (
    "JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=1 BatchFlag=1 Reboot=0 ExitCode=0:0 "
    "RunTime=1-00:00:20 TimeLimit=2-00:00:00 TimeMin=N/A SubmitTime=2026-01-02T05:18:05"
)
NODE = "Partition=gpu AllocNode:Sid=login1:204 ReqNodeList=(null) ExcNodeList=(null) NodeList=n1 BatchHost=n1"
TAILS = {
    "20.11": "TRES=cpu=8,node=1,billing=8 Features=(null) DelayBoot=00:00:00 OverSubscribe=OK Contiguous=0 Licenses=(null) "
    "Network=(null) Command={script} WorkDir=/home/ann StdErr=/home/ann/e StdIn=/dev/null StdOut=/home/ann/o Power= NtasksPerTRES:0",
    "21.08": "TRES=cpu=8,node=1,billing=8 OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) Command={script} "
    "WorkDir=/home/ann Comment=watched JobState=of_a_user StdErr=/home/ann/e StdIn=/dev/null StdOut=/home/ann/o Power= ",
    "22.05": "TRES=cpu=8,node=1,billing=8 OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) Command={script} "
    "WorkDir=/home/ann StdErr=/home/ann/e StdIn=/dev/null StdOut=/home/ann/o Power= TresPerNode=gres:gpu:1",
    "23.11": "ReqTRES=cpu=8,mem=2G,node=1,billing=8 AllocTRES=cpu=8,mem=2G,node=1,billing=8 Network=(null) Command={script} "
    "WorkDir=/home/ann StdErr=/home/ann/e StdIn=/dev/null StdOut=/home/ann/o TresPerNode=gres/gpu:1 TresPerTask=cpu=1",
    "25.05": "ReqTRES=cpu=8,mem=2G,node=1,billing=8 AllocTRES=cpu=8,mem=2G,node=1,billing=8 Licenses=(null) LicensesAlloc=(null) "
    "Network=(null) Command={script} SubmitLine=sbatch --parsable --export=ALL,A=1 --time=5 TimeLimit=5 WorkDir=x {script} "
    "WorkDir=/home/ann StdErr= StdIn=/dev/null StdOut=/home/ann/o TresPerTask=cpu=1",
}
SCRIPT = "/home/ann/my runs/trainer.sh"
RUNNING = JobState("RUNNING", "None", restarts=1, ran_s=86420.0, limit_s=172800.0, script=SCRIPT)


@pytest.mark.parametrize("version", TAILS)
@pytest.mark.parametrize("name", ["train", "my JobState=FAILED Restarts=9 run"])
def test_the_state_of_a_job_in_every_release(version: str, name: str) -> None:
    line = f"{HEAD.format(name=name)} {STATE} {NODE} {TAILS[version].format(script=SCRIPT)}"
    assert parse_state(line) == RUNNING


@pytest.mark.parametrize("limit", ["UNLIMITED", "Partition_Limit", ""])
def test_a_job_without_a_limit_of_its_own(limit: str) -> None:
    line = f"{HEAD.format(name='x')} {STATE.replace('2-00:00:00', limit)} {TAILS['25.05'].format(script=SCRIPT)}"
    assert parse_state(line).limit_s == (float("inf") if limit == "UNLIMITED" else 0.0)


@pytest.mark.parametrize(
    ("text", "expected"), [("2026-01-02T05:20:06", 121.0), ("Unknown", None), ("05:20:06", None), ("9" * 500, None)]
)
def test_when_slurm_starts_a_requeued_job(text: str, expected: float | None) -> None:
    """Another SLURM_TIME_FORMAT tells no time."""
    submitted = time.mktime(time.strptime("2026-01-02T05:18:05", "%Y-%m-%dT%H:%M:%S"))
    line = (
        f"{HEAD.format(name='x')} {STATE} EligibleTime={text} AccrueTime=Unknown {TAILS['22.05'].format(script=SCRIPT)}"
    )
    assert parse_state(line).eligible_at == (0.0 if expected is None else submitted + expected)
