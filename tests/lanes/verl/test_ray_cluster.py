"""The parts of a trainer job with two nodes, with Ray itself: two of them on this machine, without Slurm.

What Ray does here is why the launch starts it as it does (docs/adr/0018).
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from skyrl_train.launch import node_files
from skyrl_train.launch.node_files import NodeReport

pytestmark = pytest.mark.verl
NODES = ("one", "two")
JOB = str(8_000_000 + os.getpid())
"""No two runs of this lane at once share it."""
CONFIG = f"""
[model]
path = "a/b"
[slurm]
nodes = 2
gpus_per_node = 1
trainer_cpus = 1
[python]
interpreter = "{sys.executable}"
[data]
train_batch_size = 2
[actor]
ppo_mini_batch_size = 2
"""
DRIVER = """
import json, os, ray
ray.init()
groups = [ray.util.placement_group([{"CPU": 3, "GPU": 1}]) for _ in range(2)]  # as verl requests them
ray.get([group.ready() for group in groups], timeout=120)
for group in groups:
    ray.util.remove_placement_group(group)
@ray.remote(num_gpus=1, num_cpus=0)
def where(_):
    import time; time.sleep(1)
    return os.environ["OF_THE_JOB"], ray.get_runtime_context().get_node_id()
found = ray.get([where.remote(n) for n in range(2)])
json.dump({"gpus": ray.cluster_resources()["GPU"], "found": found}, open("seen.json", "w"))
if os.path.exists("wait"):
    import time; open("begun", "w").close(); time.sleep(600)
"""


class Job:
    """Both nodes' tasks as srun would start them."""

    def __init__(self, at: Path, address: str) -> None:
        self.at, self.job_dir, self._address = at, at / "job", address
        self.job_dir.mkdir()
        (self.job_dir / "config.toml").write_text(CONFIG)
        (at / "driver.py").write_text(DRIVER)
        from skyrl_train.config.load import parse, resolved
        from skyrl_train.launch import commands
        from skyrl_train.launch.jobs import jobs
        from skyrl_train.launch.render import node_script

        config = parse(CONFIG)
        (self.job_dir / "config.json").write_text(resolved(config))
        _, trainer = jobs(config, job_dir=str(self.job_dir), work_dir=str(at), python=sys.executable)
        (self.job_dir / "trainer_node.sh").write_text(node_script(trainer))
        payload = (sys.executable, str(at / "driver.py"))
        commands.write(str(self.job_dir), commands.Commands(runtime=(), trainer=payload, runtime_url="http://x"))
        node_files.begin(str(self.job_dir))
        self.tasks: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, number: int) -> None:
        environ = {
            **{name: os.environ[name] for name in ("PATH", "HOME")},
            "SLURM_JOB_ID": JOB,
            "SLURM_NODEID": str(number),
            "SLURM_LAUNCH_NODE_IPADDR": self._address,
            "SLURMD_NODENAME": NODES[number],
            "SKYRL_JOB_DIR": str(self.job_dir),
            "SKYRL_JOB_ROLE": "trainer",
            "RAY_TMPDIR": f"/tmp/r{JOB}",
            "OF_THE_JOB": "yes",
        }
        words = [sys.executable, "-m", "skyrl_train", "job", "node", str(self.job_dir)]
        self.tasks[NODES[number]] = subprocess.Popen(words, env=environ, cwd=self.at, start_new_session=True)

    def state(self, node: str) -> NodeReport:
        return node_files.read_reports(str(self.job_dir), NODES)[node]

    def of_job(self, *words: str) -> list[int]:
        """The processes of this job whose command line holds these words."""
        found = []
        for one in Path("/proc").glob("[0-9]*"):
            try:
                environ, line = (one / "environ").read_bytes(), (one / "cmdline").read_bytes().decode()
            except OSError:
                continue
            if f"SKYRL_JOB_DIR={self.job_dir}".encode() in environ.split(b"\0") and all(word in line for word in words):
                found.append(int(one.name))
        return found


def until(condition: Callable[[], object], what: str, limit_s: float = 600.0) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"not within {limit_s:g} s: {what}"
        time.sleep(0.1)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    address = subprocess.run(["hostname", "-i"], capture_output=True, text=True, check=True).stdout.split()[0]
    made = Job(tmp_path, address)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, f"/tmp/r{JOB}", ignore_errors=True)
        stack.callback(lambda: [task.wait(120) for task in made.tasks.values()])
        stack.callback(lambda: [os.kill(pid, signal.SIGKILL) for pid in made.of_job()])
        Path(f"/tmp/r{JOB}").mkdir(mode=0o700)
        for number in range(2):
            made.start(number)
        yield made


def test_two_nodes_one_cluster_and_nothing_left(job: Job) -> None:
    until(lambda: all(task.poll() is not None for task in job.tasks.values()), "both tasks end")
    assert {node: task.returncode for node, task in job.tasks.items()} == {"one": 0, "two": 0}
    seen = json.loads((job.at / "seen.json").read_text())
    assert seen["gpus"] == 2
    assert [variable for variable, _ in seen["found"]] == ["yes", "yes"]
    assert len({node for _, node in seen["found"]}) == 2
    assert {job.state(node).reason for node in NODES} == {""}
    until(lambda: not job.of_job(), f"no process is left: {job.of_job()}")


def test_a_worker_whose_raylet_dies_says_so_and_a_told_job_ends_in_time(job: Job) -> None:
    (job.at / "wait").touch()
    until(lambda: (job.at / "begun").exists(), "the driver runs on both nodes")
    raylets = [pid for pid in job.of_job("raylet/raylet") if b"SKYRL_JOB_NODE=two" in _environ(pid)]
    assert len(raylets) == 1
    os.kill(raylets[0], signal.SIGKILL)
    until(lambda: job.state("two").reason, "the worker names its end")
    assert job.state("two").reason.startswith("Ray exited with status 1")
    began = time.monotonic()
    job.tasks["one"].terminate()
    assert job.tasks["one"].wait(300) == 143
    assert time.monotonic() - began < 90  # 30 s are what Slurm leaves between its two signals; this machine may be slow
    until(lambda: not job.of_job(), "no process is left")
    assert (job.state("one").signal, job.state("one").reason) == (True, "stopped by signal 15")


def _environ(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


ALONE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
"""Among processes of its own: at its end `ray stop` ends every Ray that it sees."""


def _can_be_alone() -> bool:
    try:
        return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not _can_be_alone(), reason="no process namespace here, and it would end the Ray of others")
def test_symmetric_run_exits_with_0_where_ray_did_not_start(tmp_path: Path) -> None:
    """Why it is not used: a job whose Ray never came up would be a good one."""
    address = subprocess.run(["hostname", "-i"], capture_output=True, text=True, check=True).stdout.split()[0]
    words = [*ALONE, sys.executable, "-c", "from ray.scripts.scripts import main; main()", "symmetric-run"]
    bad = ["--address", f"{address}:26655", "--object-store-memory=1", "--", "touch", str(tmp_path / "ran")]
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "RAY_TMPDIR": str(tmp_path)}
    done = subprocess.run([*words, *bad], env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert "Failed to start Ray" in done.stderr
    assert (done.returncode, (tmp_path / "ran").exists()) == (0, False)
