"""Runs one job of each kind as a user, and checks what the site's scripts made of it."""

import re
from collections.abc import Iterator, Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.site.files import Installed
from skyrl_doctor.site.result import Result, failed, passed, skipped, unknown

START_S = 60
"""A job that has not started by then is given up: the nodes are busy."""
_LIMIT_S = START_S + 60.0
_ANSWER_S = 30.0
MARK, ASK = "SKYRL_DOCTOR_SET", "SKYRL_DOCTOR_ENV"
_VLLM, _OTHER = "#!/bin/sh\nvllm serve model\n", "#!/bin/sh\ntrue\n"
_GATED = "# by job_submit.lua"
_ID = re.compile(r"^(\d+)(?:;\S+)?$", re.MULTILINE)
_GONE = "for i in $(seq 100); do [ -e {path} ] || exit 0; sleep 0.1; done; exit 1"


@record
class Asked:
    """Who submits, and where. `gpu_partition` "" means that no GPU job is submitted."""

    as_user: tuple[str, ...]
    partition: str
    gpu_partition: str
    gres: str


@record
class Job:
    """A step that ran `env`. `environ` is empty if it did not run, for the reason `why`."""

    environ: Mapping[str, str]
    why: str = ""


def run_jobs(machine: Machine, asked: Asked, installed: Installed) -> Iterator[Result]:
    ordinary = _environment(machine, asked, None)
    if not ordinary.environ:
        yield unknown("ordinary job", ordinary.why)
        return
    yield _ordinary(ordinary)
    yield from _asking(machine, asked, installed)
    yield from _gpu(machine, asked, installed)


def _ordinary(job: Job) -> Result:
    if MARK not in job.environ:
        return passed("ordinary job", f"job {job.environ.get('SLURM_JOB_ID')} ran and got no settings")
    partition = job.environ.get("SLURM_JOB_PARTITION", "")
    return failed(
        "ordinary job",
        f"a job in partition {partition} that did not ask got the settings",
        "remove the partition or account from site.sh, or pass --partition with one that site.sh does not name",
    )


def _asking(machine: Machine, asked: Asked, installed: Installed) -> Iterator[Result]:
    """A job that asks for the settings of a sandbox runtime, and what is left of it."""
    subject = "job that asks"
    if not installed.has_task_prolog:
        yield skipped(subject, "slurm.conf names no TaskProlog of ours")
        return
    job = _environment(machine, asked, "runtime")
    if not job.environ:
        yield unknown(subject, job.why)
        return
    if MARK not in job.environ:
        yield failed(
            subject,
            f"{ASK}=runtime, but job {job.environ.get('SLURM_JOB_ID')} got no settings",
            f"run on node {job.environ.get('SLURMD_NODENAME')} as a user: {ASK}=runtime SLURM_JOB_ID=1 {installed.scripts['TaskProlog']}",
        )
        return
    yield passed(subject, f"job {job.environ['SLURM_JOB_ID']} got the settings on {job.environ.get('SLURMD_NODENAME')}")
    if "Epilog" in installed.scripts:
        yield _removed(machine, asked, job)


def _removed(machine: Machine, asked: Asked, job: Job) -> Result:
    uid, job_id, node = (
        job.environ.get("SLURM_JOB_UID", ""),
        job.environ["SLURM_JOB_ID"],
        job.environ["SLURMD_NODENAME"],
    )
    path = f"/tmp/skyrl-{uid}-{job_id}"  # noqa: S108 -- the name that the rules of the node give it
    done = machine.run((*_srun(asked), f"--nodelist={node}", "sh", "-c", _GONE.format(path=path)), limit_s=_LIMIT_S)
    if done.ok:
        return passed("Epilog", f"{path} is gone from {node}")
    if done.rc == 1 and "error" not in done.err.replace(f"{node}: task 0: Exited", ""):
        return failed(
            "Epilog", f"{path} is still on {node}", f"look into LOG_DIR/epilog.log and slurmd's log on {node}"
        )
    return unknown("Epilog", done.why)


def _gpu(machine: Machine, asked: Asked, installed: Installed) -> Iterator[Result]:
    if not asked.gpu_partition:
        yield skipped("GPU jobs", "pass --gpu-partition to submit some")
        return
    if installed.has_filter:
        yield _filtered(machine, asked, _VLLM, expected=True)
        yield _filtered(machine, asked, _OTHER, expected=False)
    if installed.has_task_prolog:
        yield _gpu_settings(machine, asked)


def _gpu_settings(machine: Machine, asked: Asked) -> Result:
    subject = "GPU job that asks"
    words = (f"--partition={asked.gpu_partition}", f"--gres={asked.gres}")
    job = _environment(machine, asked, "gpu", words)
    if not job.environ:
        return unknown(subject, job.why)
    devices = job.environ.get("CUDA_VISIBLE_DEVICES", "unset")
    if MARK not in job.environ:
        return failed(
            subject,
            f"{ASK}=gpu, but the job got no settings (CUDA_VISIBLE_DEVICES={devices})",
            "see LOG_DIR on its node",
        )
    if devices.startswith("MIG-"):
        return failed(
            subject,
            f"the job got the settings, but CUDA_VISIBLE_DEVICES={devices} still names MIG slices by UUID",
            f"run in such a job: skyrl-doctor preflight --role gpu --select GPU001 (--gres={asked.gres} must give one slice, and ConstrainDevices=yes in cgroup.conf must hide the others)",
        )
    return passed(subject, f"job {job.environ['SLURM_JOB_ID']} got the settings (CUDA_VISIBLE_DEVICES={devices})")


def _filtered(machine: Machine, asked: Asked, script: str, *, expected: bool) -> Result:
    """Submits a script that is held, reads what slurmctld made of it, and cancels it."""
    subject = "job of vLLM" if expected else "other GPU job"
    text = script.splitlines()[-1]
    words = ("sbatch", "--parsable", "--hold", "--time=1", f"--partition={asked.gpu_partition}", f"--gres={asked.gres}")
    done = machine.run((*asked.as_user, *words, "--output=/dev/null", "--wrap", text), limit_s=_ANSWER_S)
    found = _ID.search(done.out)
    if not done.ok or found is None:
        return unknown(subject, done.why)
    try:
        shown = machine.run((*asked.as_user, "scontrol", "write", "batch_script", found[1], "-"), limit_s=_ANSWER_S)
    finally:
        machine.run((*asked.as_user, "scancel", found[1]), limit_s=_ANSWER_S)
    if not shown.ok or text not in shown.out:
        return unknown(subject, shown.why)
    if (_GATED in shown.out) == expected:
        return passed(subject, "the filter inserted the gate" if expected else "the filter changed nothing")
    if expected:
        return failed(
            subject,
            "the filter did not insert the gate",
            "see slurmctld's log for job_submit.lua; PARTITIONS at its head limits it",
        )
    return failed(
        subject, "the filter inserted the gate into a script without vLLM", "install the current job_submit.lua"
    )


def _environment(machine: Machine, asked: Asked, role: str | None, words: tuple[str, ...] = ()) -> Job:
    """The environment of a task of a job that asks for the settings of this role."""
    argv = (*_srun(asked), *words, "env")
    done = machine.run(argv, limit_s=_LIMIT_S, env={ASK: role, MARK: None})
    if not done.ok:
        return Job({}, done.why)
    found = dict(line.split("=", 1) for line in done.out.splitlines() if "=" in line)
    if "SLURM_JOB_ID" not in found:
        return Job({}, "srun printed no environment of a job")
    return Job(found)


def _srun(asked: Asked) -> tuple[str, ...]:
    partition = (f"--partition={asked.partition}",) if asked.partition else ()
    return (*asked.as_user, "srun", "--quiet", "--ntasks=1", "--time=2", f"--immediate={START_S}", *partition)
