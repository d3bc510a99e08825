"""A trainer that goes back into the queue, by its own wish or by Slurm's, and the runtime that its next turn finds."""

import sys
import time

import pytest

from lanes.slurm.lab import wait_until
from lanes.slurm.site import CONFIG, Launched, Site, bash
from skyrl_train.launch.directory import read_jobs
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import IDLE, IDLE_S, SLURM_EVERY_S
from skyrl_train.launch.stop_cause import REPLACED

pytestmark = pytest.mark.slurm
LIMIT_MIN, WARN_S = 30, 60
SLURMS_DELAY_S = 115
"""Slurm 22.05 lets a requeued job wait for 121 s."""
REQUEUED = (
    CONFIG.replace("signal_before_end_s = 0", f"signal_before_end_s = {WARN_S}\nrequeue = true")
    .replace('trainer_time_limit = "5"', f'trainer_time_limit = "{LIMIT_MIN}"')
    .replace('runtime_time_limit = "5"', 'runtime_time_limit = "60"')
)
# Writes a checkpoint when it is warned, as a trainer does, and says in each turn what it found.
TRAINS = """
turn=${SLURM_RESTART_COUNT:-0}
cat job/runtime_url.txt > url.$turn; cat checkpoint > resumed.$turn 2>/dev/null; touch turn.$turn
[ $turn -lt 2 ] || exit 0
trap 'echo step > checkpoint; exit 0' USR1
while :; do sleep 0.1; done
"""


def begins(site: Site, made: Launched, number: int) -> None:
    wait_until(lambda: (site.at / f"turn.{number}").exists(), f"turn {number}: {made.said}{made.log(Role.TRAINER)}")


def changed(site: Site, made: Launched, name: str, value: str) -> None:
    """What the admin of this cluster says of the job, that no limit is near but where a test wants it."""
    done = site.cluster.run("scontrol", "update", f"JobId={made.job(Role.TRAINER)}", f"{name}={value}")
    assert done.returncode == 0, done.stderr


def queued_again(made: Launched) -> None:
    job_id = made.job(Role.TRAINER)
    made.cluster.wait_for(job_id, "PENDING")
    assert not (made.job_dir / "trainer_ended.json").exists()
    made.cluster.start_again(job_id)


def test_a_runtime_that_the_next_turn_cannot_keep_ends_at_once(site: Site) -> None:
    """And a job that Slurm restarts more often than the user allows does not run again."""
    made = site.launch(bash(TRAINS), config=REQUEUED.replace("requeue = true", "requeue = true\nrequeue_limit = 0"))
    begins(site, made, 0)
    runtime, trainer = made.job(Role.RUNTIME), made.job(Role.TRAINER)
    assert site.cluster.run("scontrol", "update", f"JobId={runtime}", "TimeLimit=20").returncode == 0
    assert site.cluster.run("scontrol", "requeue", trainer).returncode == 0
    assert site.cluster.wait(runtime).state == "CANCELLED"
    assert made.ended(Role.RUNTIME).reason.endswith(REPLACED)
    queued_again(made)
    assert made.ended(Role.TRAINER).reason == "Slurm restarted the job 1 times; slurm.requeue_limit allows 0"
    assert read_jobs(str(made.job_dir))[Role.RUNTIME] == runtime
    made.leaves_nothing()


def test_a_trainer_that_is_warned_or_requeued_goes_on_where_it_was(site: Site) -> None:
    made = site.launch(bash(TRAINS), config=REQUEUED)
    begins(site, made, 0)
    changed(site, made, "EndTime", time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + WARN_S + 30)))
    made.cluster.wait_for(made.job(Role.TRAINER), "PENDING")  # Slurm itself sends the warning, within half a minute
    changed(site, made, "TimeLimit", str(LIMIT_MIN))
    queued_again(made)
    first = read_jobs(str(made.job_dir))
    begins(site, made, 1)
    assert (site.at / "resumed.1").read_text() == "step\n"
    assert read_jobs(str(made.job_dir)) == first
    assert (site.at / "url.1").read_text() == (site.at / "url.0").read_text()

    assert site.cluster.run("scontrol", "requeue", made.job(Role.TRAINER)).returncode == 0
    made.cluster.wait_for(made.job(Role.TRAINER), "PENDING")
    assert site.cluster.run("scancel", first[Role.RUNTIME]).returncode == 0
    made.cluster.wait(first[Role.RUNTIME])
    queued_again(made)
    begins(site, made, 2)
    assert read_jobs(str(made.job_dir))[Role.RUNTIME] not in ("", first[Role.RUNTIME])
    assert made.ended(Role.TRAINER).reason == "", made.log(Role.TRAINER)
    assert (site.at / "url.2").read_text().startswith("http://127.0.0.1:")
    assert made.ended(Role.RUNTIME).status == 0
    made.leaves_nothing()
    assert (made.job_dir / "training_complete.flag").exists()


def test_a_runtime_does_not_idle_for_a_trainer_that_gets_no_node(site: Site) -> None:
    """Its node is drained while the trainer waits. Later the next turn starts a runtime of its own."""
    made = site.launch(bash(TRAINS), config=REQUEUED)
    begins(site, made, 0)
    runtime, trainer = made.job(Role.RUNTIME), made.job(Role.TRAINER)
    node = ("scontrol", "update", "NodeName=gpu1")
    assert site.cluster.run(*node, "State=DRAIN", "Reason=lane").returncode == 0
    try:
        assert site.cluster.run("scontrol", "requeue", trainer).returncode == 0
        made.cluster.wait_for(trainer, "PENDING")
        queued = time.monotonic()
        ended = made.ended(Role.RUNTIME)
        assert IDLE_S / 2 < time.monotonic() - queued < IDLE_S + 3 * SLURM_EVERY_S
        assert (ended.status, ended.reason.endswith(IDLE)) == (0, True), ended
        assert made.cluster.job(trainer).state == "PENDING"
    finally:
        assert site.cluster.run(*node, "State=RESUME").returncode == 0
    begins(site, made, 1)
    assert made.job(Role.RUNTIME) not in ("", runtime)
    assert site.cluster.run(sys.executable, "-m", "skyrl_train", "stop", str(made.job_dir), cwd=site.at).returncode == 0
    made.leaves_nothing()


def test_a_requeued_trainer_starts_again_without_slurms_two_minutes(site: Site) -> None:
    """The job's user may say so, and the runtime does: it would idle as long."""
    made = site.launch(bash(TRAINS), config=REQUEUED)
    begins(site, made, 0)
    assert site.cluster.run("scontrol", "requeue", made.job(Role.TRAINER)).returncode == 0
    made.cluster.wait_for(made.job(Role.TRAINER), "PENDING")
    queued = time.monotonic()
    begins(site, made, 1)
    assert time.monotonic() - queued < SLURMS_DELAY_S
    assert site.cluster.run(sys.executable, "-m", "skyrl_train", "stop", str(made.job_dir), cwd=site.at).returncode == 0
    made.leaves_nothing()
