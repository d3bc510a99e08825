"""Slurm's own tests of time limits, and the jobs in its documentation, as judges of what we read of Slurm."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from benchmarks.suites.cases import Case
from skyrl_train.config.walltime import UNLIMITED, minutes
from skyrl_train.launch.slurm import JobState, parse_state

_ASSERT = re.compile(r'ck_assert_int_eq\(time_str2secs\("([^"]*)"\), \(?(?:int\))?\)?([^;]*)\);')
# The same rules, written by us: no number, a sign, a space and an empty part are refused.
_OURS = {
    "": None, "x": None, "-1": UNLIMITED, "Unlimited": UNLIMITED, "InFinite": UNLIMITED, "0": 0.0, "90": 90.0,
    "90:30": 90.5, "60:": None, ":30": None, "1:-5": None, "1:2:3:4": None, " 5": None, "5 ": None, "1-0": 1440.0,
    "1-1:30": 1530.0, "0-0:90:0": 90.0, "--5": None, "1-2-3": None, "1:61:0": 121.0, "5m": None, "1.5": None,
}  # fmt: skip


def own_times(_: Path) -> Iterator[Case]:
    """Limits by the rules of Slurm's time_str2secs."""
    for text, expected in _OURS.items():
        yield Case(repr(text), minutes(text), expected)


def times(checkout: Path) -> Iterator[Case]:
    """Slurm's unit tests of time_str2secs."""
    source = checkout / "testsuite/slurm_unit/common/parse_time-test.c"
    for text, wanted in _ASSERT.findall(source.read_text(encoding="utf-8")):
        if wanted == "NO_VAL":
            expected = None
        elif wanted == "INFINITE":
            expected = UNLIMITED
        else:
            expected = sum(_product(term) for term in wanted.split("+")) / 60
        yield Case(repr(text), minutes(text), expected)


def _product(term: str) -> int:
    result = 1
    for factor in term.split("*"):
        result *= int(factor)
    return result


# `scontrol --oneliner show job`: the fields of each version in their order, after pages of sites and Slurm's source.
_HEAD = "JobId=4711 JobName={name} "
_OWNER = "UserId=ann(1000) GroupId=lab(1000) MCS_label=N/A Priority=5487 Nice=0 Account=lab QOS=normal "
_STATE = (
    "JobState={state} Reason={reason} Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0 "
    "RunTime=00:01:05 TimeLimit=2-00:00:00 TimeMin=N/A SubmitTime=2026-11-20T10:00:00 EligibleTime=2026-11-20T10:00:00 "
    "AccrueTime=2026-11-20T10:00:00 StartTime=2026-11-20T10:00:01 EndTime=2026-11-22T10:00:01 Deadline=N/A "
)
_NODES = (
    "Partition=gpu AllocNode:Sid=login1:2292 ReqNodeList=(null) ExcNodeList=(null) NodeList=n[1-2] BatchHost=n1 NumNodes=2 "
    "NumCPUs=32 NumTasks=2 CPUs/Task=16 ReqB:S:C:T=0:0:*:* "
)
_ASKED = (
    "Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* MinCPUsNode=16 MinMemoryNode=64G MinTmpDiskNode=0 "
    "Features=h100&ib DelayBoot=00:00:00 "
)
_FILES = "WorkDir=/w/{name} Comment={name} StdErr=/w/%j.err StdIn=/dev/null StdOut=/w/%j.out "
_NEW_FILES = "WorkDir=/w/{name} AdminComment={name} SystemComment={name} Comment={name} Extra={name} StdErr=/w/x StdIn=/dev/null "
_SCHEDULED = "SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-20T10:00:01 "
_RECORDS = {
    "20.11": f"{_HEAD}{_OWNER}{_STATE}{_SCHEDULED}{_NODES}TRES=cpu=32,mem=128G,node=2,billing=32 {_ASKED}"
    f"OverSubscribe=NO Contiguous=0 Licenses=(null) Network=(null) Command=/w/job.sh {_FILES}Power= MailUser={{name}}",
    "21.08": f"{_HEAD}{_OWNER}{_STATE}{_SCHEDULED}Scheduler=Main {_NODES}TRES=cpu=32,node=2,gres/gpu=8 {_ASKED}"
    f"OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) Command=/w/job.sh {_FILES}Power= TresPerNode=gpu:4 NtasksPerTRES:0",
    "22.05": f"{_HEAD}{_OWNER}WCKey=*x {_STATE}PreemptEligibleTime=2026-11-20T10:00:01 PreemptTime=None {_SCHEDULED}"
    f"Scheduler=Backfill {_NODES}TRES=cpu=32,node=2 {_ASKED}OverSubscribe=NO Contiguous=0 Licenses=(null) Network=(null) "
    f"Command=/w/job.sh {_FILES}Power= MailUser=ann MailType=END,FAIL",
    "23.11": f"{_HEAD}{_OWNER}{_STATE}{_SCHEDULED}Scheduler=Main {_NODES}ReqTRES=cpu=32 AllocTRES=cpu=32,gres/gpu:h100=8 {_ASKED}"
    f"Reservation=r1 OverSubscribe=NO Contiguous=0 Licenses=(null) Network=(null) Command=/w/job.sh {_FILES}Power= TresPerJob=gres/gpu:8",
    "24.11": f"JobId=4711 ArrayJobId=4700 ArrayTaskId=3-5%2 JobName={{name}} {_OWNER}{_STATE}{_SCHEDULED}Scheduler=Main {_NODES}"
    f"StepMgrEnabled=Yes ReqTRES=cpu=32 AllocTRES=(null) {_ASKED}OverSubscribe=NO Contiguous=0 Licenses=(null) "
    f"LicensesAlloc=(null) Network=(null) Command=/w/job.sh {_NEW_FILES}TresPerTask=cpu=16",
    "25.11": f"JobId=4711 HetJobId=4711 HetJobOffset=0 JobName={{name}} SLUID=s1 HetJobIdSet=4711-4712 {_OWNER}{_STATE}{_SCHEDULED}"
    f"Scheduler=Main:sched {_NODES}ReqTRES=cpu=32 AllocTRES=cpu=32 {_ASKED}OverSubscribe=NO Exclusive=NO Contiguous=0 "
    f"Licenses=(null) LicensesAlloc=(null) Network=(null) Command=/w/job.sh SubmitLine=sbatch --comment={{name}} job.sh "
    f"{_NEW_FILES}SegmentSize=2 MailUser=ann MailType=ALL Runtime=r Container=c ContainerID={{name}}",
}  # fmt: skip
_STATES = (
    ("PENDING", "ReqNodeNotAvail,_UnavailableNodes:n[1-4]"), ("PENDING", "Dependency"), ("CONFIGURING", "None"),
    ("RUNNING", "None"), ("COMPLETING", "NonZeroExitCode"), ("REQUEUE_HOLD", "launch_failed_requeued_held"),
    ("FAILED", "NonZeroExitCode"), ("TIMEOUT", "TimeLimit"), ("NODE_FAIL", "NodeDown"), ("OUT_OF_MEMORY", "OutOfMemory"),
)  # fmt: skip
_WORDS = (
    "train", "my job", "JobState=COMPLETED", "x Reason=done RunTime=5:00:00 TimeLimit=1:00", "a Command=/etc/x WorkDir=/",
    "b UserId=root(0) JobState=FAILED", "c Restarts=9 SubmitLine=y", "",
)  # fmt: skip
"""What a user may write in the name, the comments and the paths of a job."""


def own_records(_: Path) -> Iterator[Case]:
    """A job's record in the format of each version: whatever its user wrote, the state is Slurm's."""
    for version, record in _RECORDS.items():
        for (state, reason), word in itertools.product(_STATES, _WORDS):
            text = record.format(name=word, state=state, reason=reason)
            yield Case(f"{version} {state} {word!r}", parse_state(text), _job(state, reason))


def _job(state: str, reason: str) -> JobState:
    began = datetime(2026, 11, 20, 10).timestamp()  # noqa: DTZ001 -- Slurm prints the node's local time
    return JobState(state, reason, restarts=2, ran_s=65.0, limit_s=172800.0, script="/w/job.sh", eligible_at=began)


_FORMAT = re.compile(r'xstrfmtcat\(out,\s*(?:"\s*"\s*)?"([^"]*)"')
_FIELD = re.compile(r"([A-Z][\w:/]*)=(?:%\w+(?:\(%\w+\))?|\w+)")
_VALUES = {
    "UserId": "ann(1000)", "GroupId": "lab(1000)", "JobState": "RUNNING", "Reason": "None", "Restarts": "2",
    "RunTime": "00:01:05", "TimeLimit": "2-00:00:00", "Command": "/w/job.sh",
}  # fmt: skip
_OF_USERS = (
    "JobName",
    "SubmitLine",
    "WorkDir",
    "AdminComment",
    "SystemComment",
    "Comment",
    "Extra",
    "MailUser",
    "StdErr",
)


def records(checkout: Path) -> Iterator[Case]:
    """The fields that a Slurm prints of a job, in the order of its source."""
    source = (checkout / "src/scontrol/info_job.c").read_text(encoding="utf-8")
    begin = source.index('"JobId=%u "')
    body = source[source.rindex("{", 0, begin) : source.index('"StepId=%u_%u."')]
    names = [*dict.fromkeys(name for text in _FORMAT.findall(body) for name in _FIELD.findall(text))]
    if missing := _VALUES.keys() - set(names):
        raise RuntimeError(f"the source prints no {', '.join(sorted(missing))}")
    for word in _WORDS:
        values = {name: _VALUES.get(name, word if name in _OF_USERS else "1") for name in names}
        text = " ".join(f"{name}={value}" for name, value in values.items())
        yield Case(repr(word), parse_state(text), replace(_job("RUNNING", "None"), eligible_at=0.0))
