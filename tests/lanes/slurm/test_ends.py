"""Ways out that no job chooses: whatever ends it, nothing of a launch stays on its nodes."""

import os
import sys
import time

import pytest

from lanes.slurm.lab import wait_until
from lanes.slurm.many import a_payload, launches, left
from lanes.slurm.site import CONFIG, Launched, Site, bash
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm


def begins(site: Site, *words: str, config: str = CONFIG) -> Launched:
    """A launch whose payloads have made what real ones make: daemons, mounts, caches, a sandbox's files."""
    made = site.launch(bash(a_payload("begun")), *words, config=config)
    wait_until(lambda: (site.at / "begun").exists(), f"the trainer trains: {made.said}{made.log(Role.TRAINER)}")
    return made


def nothing_is_left(made: Launched) -> None:
    for role in Role:
        made.cluster.wait(made.job(role))
    wait_until(lambda: not left(made.job_dir), lambda: f"nothing is left: {left(made.job_dir)}")


@pytest.mark.parametrize("how", ["scancel", "scancel --signal=KILL"])
def test_scancel(site: Site, how: str) -> None:
    made = begins(site, config=CONFIG.replace("[sandbox]", f'[sandbox]\nstore = "{site.at}/stores"'))
    ids = [made.job(role) for role in Role]
    assert site.cluster.run(*how.split(), *ids).returncode == 0
    if "KILL" in how:  # the supervisors are gone without a word: what is left is the Epilog's, or the admin's by hand
        for job_id in ids:
            made.cluster.wait(job_id)
            sweep = [sys.executable, "-m", "skyrl_train", "sweep", job_id]
            wait_until(lambda sweep=sweep: site.cluster.run(*sweep).returncode == 0, "the sweep is done")
    else:
        assert made.ended(Role.TRAINER).reason.endswith("cancelled with scancel")
    nothing_is_left(made)
    assert os.listdir(site.at / "stores") == []


def test_the_time_limit(site: Site) -> None:
    """Slurm looks at time limits twice a minute."""
    made = begins(site)
    job_id = made.job(Role.TRAINER)
    soon = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 2))
    assert site.cluster.run("scontrol", "update", f"JobId={job_id}", f"EndTime={soon}").returncode == 0
    assert site.cluster.wait(job_id).state == "TIMEOUT", (made.ended(Role.TRAINER), made.log(Role.TRAINER))
    assert made.ended(Role.TRAINER).reason == "stopped by signal 15: the job hit its time limit"
    nothing_is_left(made)


def test_a_node_that_fails(site: Site) -> None:
    """Its slurmd is killed, and Slurm gives the node up: the job ends itself, and its partner with it."""
    made = begins(site)
    with site.cluster.lost("gpu1"):
        assert site.cluster.wait(made.job(Role.TRAINER)).state == "NODE_FAIL"
        why = f"the trainer job {made.job(Role.TRAINER)} ended without a report: JobState=NODE_FAIL Reason=NodeDown"
        assert (made.ended(Role.RUNTIME).status, made.ended(Role.RUNTIME).reason) == (0, why)
        assert made.ended(Role.TRAINER).reason == why
        assert site.cluster.wait(made.job(Role.RUNTIME)).state == "COMPLETED"
        assert "**SLM013 node-failed**" in (made.job_dir / "summary.md").read_text()
        wait_until(lambda: not left(made.job_dir), lambda: f"nothing is left: {left(made.job_dir)}")


def test_preemption(site: Site) -> None:
    """A job of a partition with a higher priority takes the node."""
    made = begins(site)
    other = site.cluster.submit("true", "--partition=urgent", "--exclusive", "--gres=gpu:2", cwd=site.at)
    assert made.ended(Role.TRAINER).reason == "stopped by signal 15: Slurm preempted the job"
    assert site.cluster.wait(made.job(Role.TRAINER)).state == "PREEMPTED"
    assert site.cluster.wait(made.job(Role.RUNTIME)).state == "COMPLETED"
    nothing_is_left(made)
    assert "**SLM012 job-preempted**" in (made.job_dir / "summary.md").read_text()
    assert site.cluster.wait(other).state == "COMPLETED"


FULL = "creating read-write layer: mkdir /tmp/skyrl-0-1/podman/graph/overlay/ab: no space left on device"


@pytest.mark.parametrize(
    ("trainer", "runtime", "reason", "id_"),
    [
        ("no-such-program", None, "the program 'no-such-program' was not found on this node", "ENV023"),
        (
            "sleep 600",
            bash(f"echo 'skyrl-train runtime serve: {FULL}' >&2; exit 1"),
            f"the runtime exited with status 1: {FULL}",
            "POD002",
        ),
    ],
)
def test_the_cause_is_named_by_both_jobs(site: Site, trainer: str, runtime: str | None, reason: str, id_: str) -> None:
    made = site.launch(trainer, runtime=runtime)
    first = Role.TRAINER if runtime is None else Role.RUNTIME
    assert made.ended(first).reason == reason
    assert made.ended(first.other).reason.endswith(reason)
    nothing_is_left(made)
    assert f"**{id_} " in (made.job_dir / "summary.md").read_text()
    status = site.cluster.run(sys.executable, "-m", "skyrl_train", "status", str(made.job_dir)).stdout
    assert f"doctor:   {id_} " in status


def test_some_launches_in_a_row_leave_nothing(site: Site) -> None:
    """`python -m lanes.slurm.many --count 50`, in short."""
    assert launches(site.cluster, site.at, 2) == []
