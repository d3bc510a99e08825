"""The owner of a process from /proc: its name, its user, and the Slurm job of its cgroup."""

import re

from skyrl_doctor.facts.gpu.devices import Owner

NAME = re.compile(r"^Name:[ \t]*(?P<name>.*)$", re.MULTILINE)
# Uid:	1000	1000	1000	1000
UID = re.compile(r"^Uid:\s+(?P<real>[0-9]{1,10})\s", re.MULTILINE)
# 4:devices:/slurm/uid_1000/job_4711/step_batch/task_0 · 0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0
# Slurm 26.05 names the job by its SLUID instead: 0::/system.slice/slurmstepd.scope/s0Q3XAHW5DPR00/step_0/user/task_0
JOB = re.compile(
    r"^[^:]*:[^:]*:[^\n]*slurm[^\n]*/(?:job_(?P<number>[0-9]{1,12})|(?P<sluid>s[0-9A-HJKMNP-TV-Z]{13}))(?:/|$)",
    re.MULTILINE,
)


def parse_owner(status: str, cgroup: str) -> Owner | None:
    """Parses /proc/PID/status and /proc/PID/cgroup; None if the first has no user."""
    uid = UID.search(status)
    if uid is None:
        return None
    name = NAME.search(status)
    job = JOB.search(cgroup)
    job_id = (job["number"] or job["sluid"]) if job else None
    return Owner(name=name["name"] if name else "unnamed", uid=int(uid["real"]), job=job_id)
