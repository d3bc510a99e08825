"""Jobs of a user who has nothing to do with us end with every hook as they do without, in the same environment."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lanes.slurm.hooks import GPU, Installed
from lanes.slurm.lab import GPU_PARTITION, wait_until

pytestmark = pytest.mark.slurm
USER = ("runuser", "-u", "nobody", "--")
ON_GPU = f"--partition={GPU_PARTITION}"
BASH = "#!/bin/bash\nenv\n"
# The script of each kind of batch job, and the words of sbatch.
BATCH: dict[str, tuple[str, tuple[str, ...]]] = {
    "plain": (BASH, ()),
    "fails": (f"{BASH}exit 3\n", ()),
    "strict": ("#!/bin/bash\nset -euo pipefail\nenv\nfalse\n", ()),
    "killed": (f"{BASH}kill -9 $$\n", ()),
    "sh": ("#!/bin/sh\nenv\n", ()),
    "perl": ("#!/usr/bin/perl\nsystem('env'); exit 5;\n", GPU),
    "wrap": ("", ("--wrap", "env; exit 4")),
    "array": (BASH, ("--array=0-1",)),
    "parts": (BASH, ("--ntasks=1", ":", ON_GPU, "--gres=gpu:1")),
    "steps": (f"{BASH}srun -n2 --overcommit env\nsrun -n1 sh -c 'env; exit 7'\n", ()),
    "daemon": (f"{BASH}setsid sleep 600 </dev/null >/dev/null 2>&1 &\necho $! >daemon\n", ()),
    "few variables": (BASH, ("--export=NONE",)),
    "one variable": (BASH, ("--export=ALL,MINE=1",)),
    "slice": (BASH, GPU),
    "slices": (f"{BASH}srun --gres=gpu:1 env\n", (ON_GPU, "--gres=gpu:2")),
    "named slice": (BASH, (ON_GPU, "--gpus=2g.20gb:1")),
    "slice of a task": (BASH, (ON_GPU, "--ntasks=1", "--gpus-per-task=1")),
    "whole node": (BASH, (ON_GPU, "--gres=gpu:1", "--exclusive")),
    "no slice": (BASH, (ON_GPU,)),
    "signal": ("#!/bin/bash\ntrap 'exit 9' USR1\nkill -USR1 $$\nsleep 1\n", ("--signal=B:USR1@30",)),
    "directory": (f"{BASH}pwd; ulimit -a; umask; id\n", ("--chdir=/var",)),
    "input": ("#!/bin/bash\ncat\nenv\n", ("--input=/etc/hostname",)),
    "login shell": ("#!/bin/bash -l\nenv\n", ()),
    "words of ours": (BASH, ("--comment=vllm serve", "--job-name=skyrl-trainer")),
    "requeue": (
        f'{BASH}touch turn\n[ -n "$SLURM_RESTART_COUNT" ] || scontrol requeue $SLURM_JOB_ID || exit 3\nsleep 2\n',
        ("--requeue",),
    ),
    "after another": (BASH, ("--dependency=singleton", "--job-name=plain")),
    "array, one at a time": (f"{BASH}exit $SLURM_ARRAY_TASK_ID\n", ("--array=0,2,5%1",)),
    "array of slices": (BASH, ("--array=0-1", *GPU)),
    "overlap": (f"{BASH}srun --overlap -n1 env\nsrun --overlap -n1 sh -c 'exit 2' & wait $!\n", ()),
    "overlap of a slice": (f"{BASH}srun --overlap -n1 env\nsrun -n1 --gres=none env\n", GPU),
    # Without us too, srun gives the tasks of the first part the partition of the second, at times.
    "steps of parts": (
        "#!/bin/bash\nsrun --het-group=0,1 env -u SLURM_JOB_PARTITION\n",
        ("--ntasks=1", ":", "--ntasks=1", ON_GPU),
    ),
    "programs": (
        "#!/bin/bash\nprintf '0 env\\n1 sh -c \"exit 3\"\\n' >programs\nsrun -n2 --overcommit --multi-prog programs\n",
        (),
    ),
    "python": (
        "#!/usr/bin/python3\nimport os, sys\nprint(*map('='.join, os.environ.items()), sep='\\n')\nsys.exit(8)\n",
        GPU,
    ),
    # One process waits for the signal: else bash says at times that its child was terminated.
    "cancels itself": (f"{BASH}scancel $SLURM_JOB_ID\nexec sleep 60\n", ("--no-requeue",)),
    "cores": (f"{BASH}nproc\n", ("--cpus-per-task=2", "--mem=100M", "--exclusive=user", "--nice=5")),
    "own device": (f"export CUDA_VISIBLE_DEVICES=0\n{BASH}".replace("export", "#!/bin/bash\nexport", 1), GPU),
}
STEPS: dict[str, tuple[str, ...]] = {
    "one": ("srun", "env"),
    "eight": ("srun", "-n8", "--overcommit", "sh", "-c", "env; exit $SLURM_PROCID"),
    "fails": ("srun", "sh", "-c", "env; exit 6"),
    "slice": ("srun", *GPU, "env"),
    "slices": ("srun", ON_GPU, "--gres=gpu:2", "env"),
    "few variables": ("srun", "--export=NONE", "/usr/bin/env"),
    "labels": (
        "srun",
        "--label",
        "--unbuffered",
        "-n2",
        "--overcommit",
        "sh",
        "-c",
        "echo $SLURM_STEP_ID; exit $SLURM_PROCID",
    ),
    "killed": ("srun", "--kill-on-bad-exit=1", "sh", "-c", "kill -15 $$"),
    "own environment": ("srun", "--export=ALL,MINE=1", "--job-name=mine", "env"),
    "slice of a task": ("srun", ON_GPU, "--ntasks=1", "--gpus-per-task=1", "env"),
    "allocation of a slice": ("salloc", "--quiet", *GPU, "srun", "--overlap", "env"),
    "allocation that fails": ("salloc", "--quiet", "sh", "-c", "exit 9"),
    "allocation": ("salloc", "--quiet", "srun", "env"),
    "absent": ("srun", "/nowhere"),
    "terminal": ("srun", "--pty", "/usr/bin/env"),
    "copied": ("srun", "cat", "/etc/hostname"),
}
# Differs from job to job without us too.
VOLATILE = re.compile(
    r"^(?:SLURM_(?:TASK_PID|STEP_LAUNCHER_PORT|SRUN_COMM_PORT|WORKING_CLUSTER|JOB_(?:START|END)_TIME)|_|PPID)=.*\n",
    re.MULTILINE,
)
BY_SLURM = "SLURM_SCRIPT_CONTEXT=prolog_task\n"
"""Slurm sets it in the tasks of a cluster with any TaskProlog; docs/slurm-site.md tells so."""


def comparable(text: str, job_ids: list[str]) -> list[str]:
    """The lines without what differs from job to job: ids, ports, times, and which of two slices was free."""
    text = VOLATILE.sub("", text.replace(BY_SLURM, ""))
    for job_id in job_ids:
        text = text.replace(job_id, "JOB")
    text = re.sub(r"(MIG-a{8}-0000-0000-0000-00000000000)[12](?!,)", r"\1N", text)
    text = re.sub(r"(SLURM_(?:JOB|STEP)_GPUS=)\d$", r"\1N", text, flags=re.MULTILINE)
    text = re.sub(r"srun: (?:Job JOB step creation temporarily disabled.*|Step created for job JOB)\n", "", text)
    text = re.sub(r"CANCELLED AT \S+", "CANCELLED", text)
    text = re.sub(r"srun: job JOB (?:queued and waiting for|has been allocated) resources\n", "", text)
    text = re.sub(r"srun: error: (\w+): task \d+", r"srun: error: \1: task", text)
    return sorted(text.splitlines())


def jobs_of_a_user(installed: Installed, at: Path) -> Iterator[tuple[str, object]]:
    """Each kind of job with its end and its output."""
    cluster, submitted = installed.cluster, {}
    for name, (script, words) in BATCH.items():
        place = at / name.replace(" ", "_")
        place.mkdir(mode=0o777, exist_ok=True)
        place.chmod(0o777)
        (place / "turn").unlink(missing_ok=True)
        last = ()
        if script:
            (place / "job.sh").write_text(script)
            last = ("job.sh",)
        done = cluster.run(*USER, "sbatch", "--parsable", "--output=out.%a", *words, *last, cwd=place)
        assert done.returncode == 0, (name, done.stderr)
        submitted[name] = done.stdout.strip()
    wait_until(lambda: cluster.job(submitted["requeue"]).state == "PENDING" and (at / "requeue" / "turn").exists())
    cluster.start_again(submitted["requeue"])
    for name, words in STEPS.items():
        done = cluster.run(*USER, *words, cwd=at)
        ids = sorted(set(re.findall(r"SLURM_JOB_ID=(\d+)|StepId=(\d+)|job (\d+)", done.stdout + done.stderr)))
        found = [one for three in ids for one in three if one]
        yield name, (done.returncode, comparable(done.stdout, found), comparable(done.stderr, found))
    wait_until(lambda: not cluster.jobs(), "all jobs have ended")
    for name, job_id in submitted.items():
        place = at / name.replace(" ", "_")
        job = cluster.job(job_id)
        outputs = {path.name: path.read_text() for path in sorted(place.glob("out.*"))}
        for path in place.glob("out.*"):
            path.unlink()
        ids = sorted(
            set(re.findall(r"SLURM_(?:JOB_ID|JOBID|ARRAY_JOB_ID|HET_JOB_ID)\w*=(\d+)", str(outputs))), reverse=True
        )
        texts = {path: comparable(text, [job_id, *ids]) for path, text in outputs.items()}
        yield f"batch: {name}", (job.state, job.exit_code, texts, installed.script(job_id), survivor(place))


def survivor(place: Path) -> bool:
    """Whether the daemon that the job left lives. It is ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        pid = int((place / "daemon").read_text())
        (place / "daemon").unlink()
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def test_an_ordinary_job_ends_and_sees_with_every_hook_what_it_does_without(installed: Installed) -> None:
    at = installed.cluster.base / "jobs"  # a directory that all users may enter, unlike pytest's
    at.mkdir()
    at.chmod(0o755)
    with installed.without_hooks():
        without = dict(jobs_of_a_user(installed, at))
    with_hooks = dict(jobs_of_a_user(installed, at))
    assert len(without) == len(BATCH) + len(STEPS)
    for name, end in without.items():
        assert with_hooks[name] == end, name
