"""Ways out that no job chooses: whatever ends it, nothing of a launch stays on its nodes."""

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
    made = begins(site)
    ids = [made.job(role) for role in Role]
    assert site.cluster.run(*how.split(), *ids).returncode == 0
    if "KILL" in how:  # the supervisors are gone without a word: what is left is the Epilog's, or the admin's by hand
        for job_id in ids:
            made.cluster.wait(job_id)
            sweep = [sys.executable, "-m", "skyrl_train", "sweep", job_id]
            wait_until(lambda sweep=sweep: site.cluster.run(*sweep).returncode == 0, "the sweep is done")
    nothing_is_left(made)


def test_the_time_limit(site: Site) -> None:
    """Slurm looks at time limits twice a minute."""
    made = begins(site)
    job_id = made.job(Role.TRAINER)
    soon = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 2))
    assert site.cluster.run("scontrol", "update", f"JobId={job_id}", f"EndTime={soon}").returncode == 0
    assert site.cluster.wait(job_id).state == "TIMEOUT", (made.ended(Role.TRAINER), made.log(Role.TRAINER))
    assert made.ended(Role.TRAINER).reason.startswith("stopped by signal")
    nothing_is_left(made)


def test_a_node_that_fails(site: Site) -> None:
    """Its slurmd is killed, and Slurm gives the node up: the job ends itself, and its partner with it."""
    made = begins(site)
    with site.cluster.lost("gpu1"):
        assert site.cluster.wait(made.job(Role.TRAINER)).state == "NODE_FAIL"
        ended = made.ended(Role.RUNTIME)
        assert (ended.status, ended.reason) == (1, f"the trainer job {made.job(Role.TRAINER)} is NODE_FAIL")
        wait_until(lambda: not left(made.job_dir), lambda: f"nothing is left: {left(made.job_dir)}")


def test_some_launches_in_a_row_leave_nothing(site: Site) -> None:
    """`python -m lanes.slurm.many --count 50`, in short."""
    assert launches(site.cluster, site.at, 2) == []
