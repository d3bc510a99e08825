"""A trainer job of two nodes on a real Slurm, with a stand-in for Ray: however it ends, it ends on both."""

import os
import signal
import sys
import time
from contextlib import suppress

import pytest

from lanes.slurm.lab import wait_until
from lanes.slurm.many import left
from lanes.slurm.several.two import WAITS, begun, ended, launch, launch_with_scratch, of_node, of_ray
from lanes.slurm.site import Site, bash
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.slurm


def test_a_worker_s_ray_that_dies_is_named(site: Site) -> None:
    made = launch(site, WAITS)
    begun(site, made)
    os.kill(of_ray(made, "gpu2"), signal.SIGKILL)
    assert "node gpu2: Ray exited with status -9" in ended(made).reason
    made.leaves_nothing()


def test_a_worker_that_is_killed_whole_is_named_and_nothing_of_it_is_left(site: Site) -> None:
    made = launch_with_scratch(site, "pass")
    begun(site, made)
    for pid in of_node(made, "gpu2"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert "node gpu2 ended without a report" in ended(made).reason
    made.leaves_nothing()
    assert list(site.at.glob("scratch_*/skyrl-*")) == []


def test_the_trainer_s_own_end_is_the_job_s(site: Site) -> None:
    made = launch(site, "bash -c 'exit 3'")
    end = ended(made)
    assert (end.status, end.reason) == (3, "node gpu1: the trainer exited with status 3")
    made.leaves_nothing()


def test_stop_leaves_nothing_on_either_node(site: Site) -> None:
    made = launch(site, WAITS)
    begun(site, made)
    assert site.cluster.run(sys.executable, "-m", "skyrl_train", "stop", str(made.job_dir), cwd=site.at).returncode == 0
    made.leaves_nothing()
    assert "stopped by signal" in ended(made).reason


def test_a_warning_before_the_limit_reaches_the_trainer(site: Site) -> None:
    waits = "trap 'touch warned; exit 0' USR1; touch begun; while :; do sleep 0.1; done"
    made = launch(site, bash(waits))
    begun(site, made)
    site.cluster.run("scancel", "--signal=USR1", "--batch", made.job(Role.TRAINER))
    assert ended(made).status == 0, made.log(Role.TRAINER)
    assert (site.at / "warned").exists()
    made.leaves_nothing()


def test_the_time_limit_leaves_nothing_on_either_node(site: Site) -> None:
    """Slurm looks at time limits twice a minute."""
    made = launch_with_scratch(site, "pass")
    begun(site, made)
    job_id = made.job(Role.TRAINER)
    soon = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 2))
    assert site.cluster.run("scontrol", "update", f"JobId={job_id}", f"EndTime={soon}").returncode == 0
    assert site.cluster.wait(job_id).state == "TIMEOUT", (made.ended(Role.TRAINER), made.log(Role.TRAINER))
    assert "stopped by signal" in made.ended(Role.TRAINER).reason
    made.leaves_nothing()
    assert list(site.at.glob("scratch_*/skyrl-*")) == []


def test_a_worker_node_that_slurm_gives_up_ends_the_job_on_both(site: Site) -> None:
    """Its slurmd is killed. The other node's processes hear of it, and so do those that still run on the lost one."""
    made = launch_with_scratch(site, "pass")
    begun(site, made)
    with site.cluster.lost("gpu2"):
        assert site.cluster.wait(made.job(Role.TRAINER)).state == "NODE_FAIL"
        wait_until(lambda: not left(made.job_dir), lambda: f"nothing is left: {left(made.job_dir)}")
        wait_until(lambda: not list(site.at.glob("scratch_*/skyrl-*")), "no directory is left")
