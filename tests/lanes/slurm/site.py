"""A launch as a user of the cluster makes it, and what is known of it afterwards."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from lanes.slurm.lab import CPU_PARTITION, GPU_PARTITION, Cluster, processes_with, wait_until
from skyrl_train.launch.directory import Ended, read_ended, read_jobs
from skyrl_train.launch.role import Role

HERE = Path(__file__).parent
CONFIG = f"""
[model]
path = "Qwen/Qwen2.5-Coder-0.5B-Instruct"
attention = "sdpa"
remove_padding = false
[data]
train_batch_size = 1
max_prompt_tokens = 2048
max_response_tokens = 2048
[rollout]
max_model_len = 4096
max_tokens = 1024
[agent]
max_parallel = 1
[sandbox]
cpus = 1
memory_mib = 64
reserved_cpus = 0
[slurm]
gpu_partition = "{GPU_PARTITION}"
cpu_partition = "{CPU_PARTITION}"
trainer_cpus = 1
trainer_memory_mib = 32000
trainer_time_limit = "5"
runtime_cpus = 1
runtime_memory_mib = 4000
runtime_time_limit = "5"
signal_before_end_s = 0
[trainer]
experiment = "lane"
"""


@dataclass
class Site:
    """A user's working directory on the cluster."""

    cluster: Cluster
    at: Path

    def launch(
        self, trainer: str, *words: str, config: str = CONFIG, runtime: str | None = None, **more: str
    ) -> "Launched":
        (self.at / "run.toml").write_text(config)
        job_dir = self.at / "job"
        payload = runtime or f"{sys.executable} {HERE / 'standin_runtime.py'} {job_dir}"
        command = [sys.executable, "-m", "skyrl_train", "launch", "run.toml", "--job-dir", str(job_dir)]
        command += ["--runtime-command", payload, "--trainer-command", trainer, *words]
        done = self.cluster.run(*command, cwd=self.at, **more)
        return Launched(self.cluster, job_dir, done.returncode, done.stderr)


@dataclass
class Launched:
    cluster: Cluster
    job_dir: Path
    status: int
    said: str

    def job(self, role: Role) -> str:
        return read_jobs(str(self.job_dir))[role]

    def ended(self, role: Role) -> Ended:
        wait_until(lambda: read_ended(str(self.job_dir), role), f"{role} tells its end\n{self.said}")
        found = read_ended(str(self.job_dir), role)
        assert found is not None
        return found

    def log(self, role: Role) -> str:
        return "".join(path.read_text() for path in self.job_dir.glob(f"{role.log_name}_*.err"))

    def leaves_nothing(self) -> None:
        for role in Role:
            self.cluster.wait(self.job(role))
        wait_until(lambda: not processes_with(f"SKYRL_JOB_DIR={self.job_dir}"), "no process of the launch is left")
        ids = read_jobs(str(self.job_dir)).values()
        assert [path for one in ids for path in Path("/tmp").glob(f"skyrl-*-{one}")] == []

    def payloads(self, role: Role) -> list[int]:
        """The processes of this job's payload."""
        marks = {f"SKYRL_JOB_DIR={self.job_dir}", f"SKYRL_JOB_ROLE={role}"}
        return sorted(set.intersection(*(set(processes_with(mark)) for mark in marks)))

    def runs(self, role: Role) -> None:
        wait_until(lambda: self.payloads(role), f"the {role} runs: {self.said} {self.log(role)}")


WAITS = "bash -c 'touch begun; sleep 600'"


def bash(text: str) -> str:
    return f"bash -c {shlex.quote(text)}"
