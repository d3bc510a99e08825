"""What is shipped for sites, as a site installs it: in the slurm.conf of a real Slurm."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanes.slurm.lab import GPU_PARTITION, Cluster, a_cluster, processes_with, wait_until
from lanes.slurm.site import Site, bash
from skyrl_train.launch.role import Role
from skyrl_train.procfs import lives

pytestmark = pytest.mark.slurm
CONTRIB = Path(__file__).parents[3] / "contrib" / "slurm"
GPU = (f"--partition={GPU_PARTITION}", "--gres=gpu:1")
# The doctor as installed; a file named `hangs` stands for a driver that does not answer, `taken` for a stranger's memory.
DOCTOR = """#!/bin/sh
export PYTHONPATH={base}/python SLURM_CONF={base}/slurm.conf
if [ -e {site}/hangs ] && [ $1 = preflight ]; then trap '' TERM; sleep 600; fi
if [ -e {site}/taken ]; then PYTHONPATH={site}/taken; fi
exec {python} -m {module} "$@"
"""


@dataclass(frozen=True)
class Installed:
    """A cluster whose slurm.conf names the scripts."""

    cluster: Cluster
    at: Path

    def log(self, name: str) -> str:
        path = self.at / "log" / name
        return path.read_text() if path.exists() else ""

    def node(self, name: str = "gpu1") -> tuple[str, str]:
        """What Slurm has about it: state, and the reason without its time."""
        words = self.cluster.run("sinfo", "--noheader", "--Node", f"--nodes={name}", "--format=%T|%E").stdout.strip()
        state, _, reason = words.partition("|")
        return state.rstrip("*"), reason  # * is: it has not answered yet, since it was set free

    def runs(self, text: str, *options: str, at: Path) -> str:
        """The job that ran this text, with exit status 0."""
        job = self.cluster.wait(self.cluster.submit(text, *options, cwd=at))
        assert (job.state, job.exit_code) == ("COMPLETED", 0), (job, self.log("epilog.log"))
        return job.id


def install(base: Path) -> str:
    """Copies the scripts; their lines for slurm.conf."""
    site = base / "site"
    shutil.copytree(CONTRIB, site)
    for name, module in (("doctor", "skyrl_doctor"), ("train", "skyrl_train")):
        text = DOCTOR.format(base=base, site=site, python=sys.executable, module=module)
        (site / name).write_text(text)
        (site / name).chmod(0o755)
    (site / "site.sh").write_text(
        f"export SLURM_CONF={base}/slurm.conf\nDOCTOR={site}/doctor\nTRAIN={site}/train\nLOG_DIR={site}/log\n"
        f"STATE_DIR={site}/state\nPROLOG_LIMIT_S=10\nTASKPROLOG_LIMIT_S=50\nHEALTH_LIMIT_S=50\n"
    )
    lua = (CONTRIB / "job_submit.lua").read_text().replace("/opt/skyrl-doctor/bin/skyrl-doctor", f"{site}/doctor")
    (base / "job_submit.lua").write_text(lua)
    lines = {"PrologFlags": "Alloc", "PrologEpilogTimeout": "60", "JobSubmitPlugins": "lua"}
    lines |= {"HealthCheckInterval": "2", "HealthCheckNodeState": "IDLE"}
    scripts = {"Prolog": "prolog", "TaskProlog": "taskprolog", "Epilog": "epilog", "HealthCheckProgram": "healthcheck"}
    lines |= {key: f"{site}/{name}.sh" for key, name in scripts.items()}
    return "".join(f"{key}={value}\n" for key, value in lines.items())


@pytest.fixture(scope="module")
def module_installed() -> Iterator[Installed]:
    with tempfile.TemporaryDirectory(prefix="ss", dir="/tmp", ignore_cleanup_errors=True) as name:
        base = Path(name)
        base.chmod(0o755)
        extra = install(base)
        with a_cluster(base, extra) as cluster:
            taken = base / "site" / "full"
            taken.mkdir()
            fake = (base / "python" / "pynvml.py").read_text()
            (taken / "pynvml.py").write_text(fake.replace("13 * MIB", "3000 * MIB"))
            yield Installed(cluster, base / "site")


@pytest.fixture
def installed(module_installed: Installed) -> Iterator[Installed]:
    yield module_installed
    for name in ("hangs", "taken"):
        (module_installed.at / name).unlink(missing_ok=True)
    module_installed.cluster.clear()


def test_what_the_node_needs_reaches_the_batch_step_and_every_other(installed: Installed, tmp_path: Path) -> None:
    text = "echo $CUDA_VISIBLE_DEVICES $RAY_TMPDIR > batch; srun -n1 --gres=gpu:1 sh -c 'echo $CUDA_VISIBLE_DEVICES > step'"
    job_id = installed.runs(text, *GPU, at=tmp_path)
    assert (tmp_path / "batch").read_text() == f"0 /tmp/r{job_id}\n"
    assert (tmp_path / "step").read_text() == "0\n"


def test_a_launch_on_such_a_cluster(installed: Installed, tmp_path: Path) -> None:
    """The scripts of the site and those of the launch do the same twice, and it is the same."""
    made = Site(installed.cluster, tmp_path).launch(bash("echo $CUDA_VISIBLE_DEVICES > device"))
    assert made.ended(Role.TRAINER).reason == "", made.said + made.log(Role.TRAINER)
    assert (tmp_path / "device").read_text() == "0\n"
    made.leaves_nothing()


def test_a_prolog_whose_probe_hangs_drains_nothing(installed: Installed, tmp_path: Path) -> None:
    (installed.at / "hangs").touch()
    job_id = installed.runs("touch ran", *GPU, at=tmp_path)
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
    installed.runs("true", *GPU, at=tmp_path)


@pytest.mark.parametrize(
    ("options", "text", "gated"),
    [
        (GPU, "touch ran", True),
        ((), "touch ran", False),
        (GPU, "# skyrl-doctor: no\ntouch ran", False),
    ],
)
def test_the_gate_is_put_into_scripts_that_ask_for_a_gpu(
    installed: Installed, tmp_path: Path, options: tuple[str, ...], text: str, gated: bool
) -> None:
    job_id = installed.runs(text, *options, at=tmp_path)
    assert (tmp_path / "ran").exists()
    script = installed.cluster.run("scontrol", "write", "batch_script", job_id, "-").stdout
    assert ("by job_submit.lua" in script) == gated
    assert script.startswith("#!/bin/bash\n")


def test_the_gate_refuses_what_it_should(installed: Installed, tmp_path: Path) -> None:
    text = "export CUDA_VISIBLE_DEVICES=MIG-gone\ntouch ran"
    job = installed.cluster.wait(
        installed.cluster.submit(text, f"--partition={GPU_PARTITION}", "--gres=gpu:2", cwd=tmp_path)
    )
    assert (job.state, job.exit_code, (tmp_path / "ran").exists()) == ("FAILED", 78, False)


def test_a_program_that_is_no_shell_script_is_left_alone(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(f"#!{sys.executable}\nopen('ran', 'w')\n")
    done = installed.cluster.run("sbatch", "--parsable", *GPU, "job.py", cwd=tmp_path)
    assert installed.cluster.wait(done.stdout.strip()).exit_code == 0
    assert (tmp_path / "ran").exists()
