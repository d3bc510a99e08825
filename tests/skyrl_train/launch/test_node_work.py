"""Two nodes' parts of a trainer job on this machine, with a stand-in for Ray: real processes, no Slurm."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from skyrl_train.config.load import parse, resolved
from skyrl_train.contracts.errors import TrainError
from skyrl_train.launch import commands, node_files
from skyrl_train.launch.jobs import jobs
from skyrl_train.launch.node_files import NodeReport
from skyrl_train.launch.node_watch import cause
from skyrl_train.launch.node_work import _free_ports
from skyrl_train.launch.render import node_script
from skyrl_train.node.ray_cluster import Head, ports

ROOT = Path(__file__).parents[3]
RAY = ROOT / "tests" / "lanes" / "slurm" / "standin_ray"
NODES = ("one", "two")
CONFIG = '[model]\npath = "a/b"\n[slurm]\nnodes = 2\n[data]\ntrain_batch_size = 2\n[actor]\nppo_mini_batch_size = 2\n'
LIMIT_S = 300.0
JOB = str(12 * 10**8 + os.getpid())
"""The head takes the first pair of ports that is free when it looks: two workers of a run must look at different ones."""


class Job:
    """Both nodes' tasks as srun would start them."""

    def __init__(self, at: Path) -> None:
        self.at, self.job_dir = at, str(at / "job")
        self.tasks: dict[str, subprocess.Popen[bytes]] = {}
        os.mkdir(self.job_dir)
        Path(self.job_dir, "config.toml").write_text(CONFIG)
        config = parse(CONFIG)
        Path(self.job_dir, "config.json").write_text(resolved(config))
        _, trainer = jobs(config, job_dir=self.job_dir, work_dir=str(at), python=sys.executable)
        Path(self.job_dir, "trainer_node.sh").write_text(node_script(trainer))
        node_files.begin(self.job_dir)

    def start(self, payload: str) -> None:
        words = ("/bin/bash", "-c", payload)
        commands.write(self.job_dir, commands.Commands(runtime=(), trainer=words, runtime_url="http://x"))
        for number, node in enumerate(NODES):
            environ = {
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(RAY),
                "SLURM_JOB_ID": JOB,
                "SLURM_NODEID": str(number),
                "SLURMD_NODENAME": node,
                "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1",
                "SKYRL_JOB_DIR": self.job_dir,
                "SKYRL_JOB_ROLE": "trainer",
            }
            line = [sys.executable, "-m", "skyrl_train", "job", "node", self.job_dir]
            self.tasks[node] = subprocess.Popen(line, env=environ, cwd=self.at, start_new_session=True)

    def ended(self) -> dict[str, int]:
        return {node: task.wait(LIMIT_S) for node, task in self.tasks.items()}

    def states(self) -> dict[str, NodeReport]:
        return node_files.read_reports(self.job_dir, NODES)

    def processes(self) -> list[int]:
        mark = f"SKYRL_JOB_DIR={self.job_dir}".encode()
        return [int(one.name) for one in Path("/proc").glob("[0-9]*") if mark in _words(one / "environ")]


def _words(path: Path) -> list[bytes]:
    """Of a process that may be gone by now."""
    try:
        return path.read_bytes().split(b"\0")
    except OSError:
        return []


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    made = Job(tmp_path)
    yield made
    for pid in made.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for task in made.tasks.values():
        task.wait(LIMIT_S)


def test_the_trainer_runs_once_with_the_cluster_s_address_and_nothing_is_left(job: Job) -> None:
    job.start("echo $RAY_ADDRESS $SKYRL_JOB_NODE $RAY_AUTH_MODE >> seen")
    assert job.ended() == {"one": 0, "two": 0}
    head = node_files.read_head(job.job_dir)
    assert head is not None
    assert (job.at / "seen").read_text() == f"{head.address} one token\n"
    assert {(one.state, one.status, one.reason) for one in job.states().values()} == {("ended", 0, "")}
    assert job.processes() == []


def test_a_job_that_is_told_to_end_says_so_and_ends_its_trainer(job: Job) -> None:
    job.start("trap 'touch told; exit 0' TERM; trap 'touch warned' USR1; touch begun; while :; do sleep 0.05; done")
    until((job.at / "begun").exists)
    node_files.warn(job.job_dir)
    until((job.at / "warned").exists)  # and Ray has not heard of it
    for task in job.tasks.values():
        task.terminate()
    assert job.ended() == {"one": 143, "two": 143}
    assert (job.at / "told").exists()
    assert {one.signal for one in job.states().values()} == {True}
    assert cause(job.job_dir, NODES) is None
    assert job.processes() == []


def test_a_ray_that_dies_ends_its_node_s_part(job: Job) -> None:
    job.start("touch begun; sleep 600")
    until((job.at / "begun").exists)
    (ray,) = [
        pid
        for pid in job.processes()
        if b"SKYRL_JOB_NODE=two" in _words(Path(f"/proc/{pid}/environ"))
        and b"ray.scripts.scripts" in _words(Path(f"/proc/{pid}/cmdline"))
    ]
    os.kill(ray, signal.SIGKILL)
    assert job.tasks["two"].wait(LIMIT_S) == 1
    assert job.states()["two"].reason == "Ray exited with status -9; its messages are above in this log"


def test_a_pair_of_ports_that_is_taken_is_passed_over() -> None:
    environ = {"SLURM_LAUNCH_NODE_IPADDR": "10.0.0.1", "SLURM_JOB_ID": "990417"}
    first, second = list(ports("990417"))[:2]
    with socket.create_server(("", first[1])):
        assert _free_ports(environ) == (Head("10.0.0.1", second[0]), second[1])
    with pytest.raises(TrainError, match="SLURM_LAUNCH_NODE_IPADDR"):
        _free_ports({})
