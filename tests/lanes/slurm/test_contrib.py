"""TaskProlog, Prolog, Epilog and health check in the slurm.conf of a real Slurm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lanes.slurm.hooks import GPU, NAMED, Installed
from lanes.slurm.lab import processes_with, wait_until
from lanes.slurm.site import Site, bash
from skyrl_train.launch.role import Role
from skyrl_train.procfs import lives

pytestmark = pytest.mark.slurm
OURS = (f"--partition={NAMED}", "--gres=gpu:1")


def test_settings_reach_the_batch_step_and_every_other_of_a_job_that_asks(installed: Installed, tmp_path: Path) -> None:
    text = "#SBATCH --export=ALL,SKYRL_DOCTOR_ENV=gpu\n"
    text += "echo $CUDA_VISIBLE_DEVICES $RAY_TMPDIR > batch; srun -n1 --gres=gpu:1 sh -c 'echo $CUDA_VISIBLE_DEVICES > step'"
    job_id = installed.runs(text, *GPU, at=tmp_path)
    assert (tmp_path / "batch").read_text() == f"0 /tmp/r{job_id}\n"
    assert (tmp_path / "step").read_text() == "0\n"


def test_a_job_in_a_partition_that_the_site_names_gets_them_too(installed: Installed, tmp_path: Path) -> None:
    job_id = installed.runs("echo $CUDA_VISIBLE_DEVICES $RAY_TMPDIR > batch", *OURS, at=tmp_path)
    assert (tmp_path / "batch").read_text() == f"0 /tmp/r{job_id}\n"
    seen = installed.log("prolog.log")
    assert f"job={job_id} node=gpu1 status=0" in seen, seen  # a slice by its UUID is no fault of the node


def test_the_doctor_runs_once_for_a_job_that_asks_and_never_for_another(installed: Installed) -> None:
    show = ("srun", "-n8", "--overcommit", "printenv", "SLURM_JOB_ID", "SKYRL_DOCTOR_SET")
    asks = installed.cluster.run(*show, SKYRL_DOCTOR_ENV="runtime")
    job_id, *settings = sorted(set(asks.stdout.split()))
    assert (asks.stdout.split().count(job_id), settings) == (8, [f"{job_id}@cpu1"]), asks.stderr
    other = installed.cluster.run(*show).stdout.split()
    asked = (installed.at / "asked").read_text().splitlines()
    assert [asked.count(f"{one} env") for one in (job_id, other[0])] == [1, 0]


def test_a_launch_on_such_a_cluster(installed: Installed, tmp_path: Path) -> None:
    """The scripts of the site and those of the launch do the same twice, and it is the same."""
    made = Site(installed.cluster, tmp_path).launch(bash("echo $CUDA_VISIBLE_DEVICES > device"))
    assert made.ended(Role.TRAINER).reason == "", made.said + made.log(Role.TRAINER)
    assert (tmp_path / "device").read_text() == "0\n"
    made.leaves_nothing()


def test_a_prolog_whose_probe_hangs_drains_nothing(installed: Installed, tmp_path: Path) -> None:
    (installed.at / "hangs").touch()
    job_id = installed.runs("touch ran", *OURS, at=tmp_path)
    assert (tmp_path / "ran").exists()
    assert f"job={job_id} timed out" in installed.log("prolog.log")
    wait_until(lambda: installed.node()[0] == "idle", f"the node is idle: {installed.node()}")


# What a job leaves that was killed in the middle: a daemon of its own session, sandboxes' mounts and files, caches.
LEAVES = """
at=/tmp/skyrl-$(id -u)-$SLURM_JOB_ID
mkdir -p $at/podman/graph/merged $at/podman/read-only /tmp/r$SLURM_JOB_ID/ray
mount -t tmpfs none $at/podman/graph/merged
touch $at/podman/graph/merged/file $at/podman/read-only/file
chown -R 100000 $at/podman; chmod 0 $at/podman/read-only
setsid unshare --mount --fork --kill-child sleep 600 < /dev/null > /dev/null 2>&1 &
env -u SLURM_JOB_ID setsid unshare --mount sh -c "mount --bind $at/podman/graph /mnt; echo \\$\\$ > sandbox; exec sleep 600" &
setsid sleep 600 < /dev/null > /dev/null 2>&1 &
echo $! > daemon
while [ ! -e sandbox ]; do sleep 0.05; done
echo $at > place
kill -9 $$
"""


def test_an_epilog_takes_away_what_a_dead_job_left_and_nothing_else(installed: Installed, tmp_path: Path) -> None:
    foreign = Path(f"/tmp/skyrl-{os.getuid()}-{os.getpid()}{'0' * 9}")
    foreign.mkdir()
    other = subprocess.Popen(["sleep", "600"], env={"SLURM_JOB_ID": "4194304999"}, start_new_session=True)
    try:
        job_id = installed.cluster.submit(LEAVES, *GPU, cwd=tmp_path)
        assert installed.cluster.wait(job_id).state == "FAILED"
        place = Path((tmp_path / "place").read_text().strip())
        wait_until(lambda: f"job={job_id} " in installed.log("epilog.log"), "the epilog is done")
        wait_until(lambda: not processes_with(f"SLURM_JOB_ID={job_id}"), "no process of the job is left")
        pids = [int((tmp_path / name).read_text()) for name in ("daemon", "sandbox")]
        wait_until(lambda: not any(map(lives, pids)), "neither daemon nor sandbox is left")
        assert [path for path in (place, Path(f"/tmp/r{job_id}")) if path.exists()] == []
        assert str(place) not in Path("/proc/self/mountinfo").read_text()
        assert (foreign.exists(), lives(other.pid)) == (True, True)
        wait_until(lambda: installed.node()[0] == "idle", f"the node is idle: {installed.node()}")
    finally:
        foreign.rmdir()
        other.kill()
        other.wait()


# A sandbox in the job's own store, as the runtime makes one, of a job that is killed.
SANDBOX = """
eval "$({python} -m skyrl_doctor env --role runtime --shell)"
mkdir -p rootfs/bin rootfs/tmp && cp "$(command -v busybox)" rootfs/bin/sleep
runtime=$(command -v runc || command -v crun)
podman --runtime $runtime run -d --network none --ulimit nofile=512:512 --ulimit nproc=512:512 \\
  --rootfs $PWD/rootfs /bin/sleep 600 > container 2> trouble || exit 9
podman inspect --format '{{{{.State.Pid}}}} {{{{.State.ConmonPid}}}}' $(cat container) > pids
echo /tmp/skyrl-$(id -u)-$SLURM_JOB_ID > place
kill -9 $$
"""


def test_an_epilog_takes_away_a_real_sandbox(installed: Installed, tmp_path: Path) -> None:
    if shutil.which("podman") is None or shutil.which("busybox") is None:
        pytest.skip("no podman and busybox here (.ci/podman-lane installs them)")
    text = "# skyrl-doctor: no\n" + SANDBOX.format(python=sys.executable)
    job = installed.cluster.wait(installed.cluster.submit(text, cwd=tmp_path))
    if job.exit_code == 9:
        pytest.skip(f"podman does not run here as this user: {(tmp_path / 'trouble').read_text()[-300:]}")
    place, pids = Path((tmp_path / "place").read_text().strip()), (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    wait_until(lambda: not place.exists(), f"{place} is gone: {installed.log('epilog.log')}")
    assert [pid for pid in pids if lives(int(pid))] == []
    assert str(place) not in Path("/proc/self/mountinfo").read_text()
    wait_until(lambda: installed.node("cpu1")[0] == "idle", f"the node is idle: {installed.node('cpu1')}")


def test_a_health_check_drains_and_sets_free_its_own_alone(installed: Installed) -> None:
    scontrol = ("scontrol", "update", "NodeName=gpu1")
    (installed.at / "taken").symlink_to("full")
    wait_until(lambda: installed.node()[0] == "drained", f"drained: {installed.node()} {installed.log('health.log')}")
    assert installed.node()[1].startswith("skyrl-doctor: GPU003 gpu-memory-taken")
    (installed.at / "taken").unlink()
    wait_until(lambda: installed.node()[0] == "idle", f"{installed.node()}")

    assert installed.cluster.run(*scontrol, "State=DRAIN", "Reason=fan broken").returncode == 0
    for _ in range(2):
        seen = looked(installed)
        wait_until(lambda seen=seen: looked(installed) > seen, "one more look")
    assert installed.node() == ("drained", "fan broken")
    assert installed.cluster.run(*scontrol, "State=UNDRAIN").returncode == 0


def looked(installed: Installed) -> int:
    """When the node was looked at last."""
    last = installed.at / "state" / "gpu1" / "last"
    return last.stat().st_mtime_ns if last.exists() else 0


def test_a_look_that_hangs_drains_nothing_and_delays_nobody(installed: Installed, tmp_path: Path) -> None:
    (installed.at / "hangs").touch()
    wait_until(lambda: (installed.at / "state" / "gpu1" / "last").exists(), "a look was begun")
    assert installed.node()[0] == "idle"
    (installed.at / "hangs").unlink()
    installed.runs("true", *OURS, at=tmp_path)
