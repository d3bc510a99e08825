"""A whole launch on one machine: real Slurm, real Podman, real verl, vLLM and Ray; no GPU, no registry, no network."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cpu_stack import run
from cpu_stack.mend import write_mend
from cpu_stack.task_image import write_archive
from lanes.podman.lab import User, engine_of_this_host, may_open, write_configuration
from lanes.processes import described
from lanes.slurm.lab import CPU_PARTITION, GPU_PARTITION, Cluster, processes_with, wait_until
from skyrl_train.checkpoints.saved import examine
from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.payloads import from_json
from skyrl_train.demo.rows import IMAGE, TASKS
from skyrl_train.launch.directory import Ended, read_ended, read_jobs
from skyrl_train.launch.role import Role

LIMIT_S = 1200.0
"""Of one turn of a trainer, above what its own phases may take. Alone on two cores it takes 90 s, most of them imports."""
LEFT_S = 300.0
SHOWN = 12_000
DEMO = TASKS[0]
NAME = IMAGE.format(name=DEMO.name)
_MORE = """
[sandbox]
cpus = 1
memory_mib = 256
reserved_cpus = 0
image_archive = "{images}"
bind_port = 0
[slurm]
gpu_partition = "{gpu}"
cpu_partition = "{cpu}"
trainer_cpus = 2
trainer_memory_mib = 32000
trainer_time_limit = "30"
runtime_cpus = 4
runtime_memory_mib = 4000
runtime_time_limit = "30"
signal_before_end_s = 0
requeue = true
"""


def write_images(directory: Path, *, tests: bool = True) -> Path:
    """The one image that the tasks need, where a launch looks for archives."""
    directory.mkdir()
    write_archive(directory, NAME, DEMO, tests=tests, more=lambda root: write_mend(DEMO, root / "testbed"))
    return directory


@contextmanager
def podman_environment(base: Path) -> Iterator[Mapping[str, str]]:
    """What Podman needs on this host to run at all; the runtime's own store stands on it."""
    me = User("me", os.getuid(), os.getgid())
    containers, engine = engine_of_this_host(tun_usable=may_open(me, "/dev/net/tun"))
    env = write_configuration(base, engine, containers=containers)
    with (base / "storage.conf").open("a") as conf:
        conf.write(f'runroot = "{base}/run"\n')
    yield {name: value for name, value in env.items() if name not in ("PATH", "HOME")}


@dataclass
class Whole:
    """A user's working directory, and the launch made there."""

    cluster: Cluster
    at: Path
    model: Path
    images: Path
    env: Mapping[str, str]
    said: str = ""
    status: int | None = None
    faults: dict[str, str] = field(default_factory=dict)
    name: str = "job"

    @property
    def job(self) -> Path:
        return self.at / self.name

    def config(self, *, steps: int, **changes: str) -> str:
        """The training lane's configuration with real sandboxes, and Slurm. `changes`: texts and what replaces them."""
        tasks = self.at / "tasks.jsonl"
        rows = [{**row, "extra_info": {**row["extra_info"], "image": NAME}} for row in run.rows()]
        tasks.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        text = run.config_text(
            self.model, self.job, tasks=tasks, checkpoints=self.at / "checkpoints", steps=steps, lr=1e-4
        )
        own = next(line for line in text.splitlines() if "agent_loop_config_path" in line)
        text = text.replace(f"{own}\n", "") + _MORE.format(images=self.images, gpu=GPU_PARTITION, cpu=CPU_PARTITION)
        for old, new in changes.items():
            assert old in text, old
            text = text.replace(old, new)
        return text

    def launch(self, config: str, *words: str, **more: str) -> "Whole":
        (self.at / "run.toml").write_text(config, encoding="utf-8")
        command = self.skyrl_train("launch", "run.toml", "--job-dir", str(self.job), *words)
        done = self.cluster.run(*command, cwd=self.at, limit_s=LIMIT_S, **self.environment(), **more)
        self.status, self.said = done.returncode, done.stderr
        return self

    @staticmethod
    def skyrl_train(*words: str) -> tuple[str, ...]:
        return (sys.executable, "-m", "skyrl_train", *words)

    def environment(self) -> dict[str, str]:
        own = run.environment(self.job)
        kept = {name: value for name, value in own.items() if os.environ.get(name) != value and name != "PYTHONPATH"}
        paths = os.pathsep.join((self.cluster.env["PYTHONPATH"], own["PYTHONPATH"]))
        return {
            **kept,
            **self.env,
            "PYTHONPATH": paths,
            "PATH": f"{Path(sys.executable).parent}:{self.cluster.env['PATH']}",
        }

    @property
    def trainer(self) -> str:
        return read_jobs(str(self.job))[Role.TRAINER]

    def until(self, condition: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
        """Fails at once where a job has ended before, with what was said."""
        end = time.monotonic() + limit_s
        while not condition():
            for role in Role:
                ended = self.ended(role)
                assert ended is None or condition(), f"{role} ended before {what}: {ended}\n{self.logs()}"
            assert time.monotonic() < end, f"{what} did not come within {limit_s:g} s\n{self.logs()}"
            time.sleep(0.2)

    def ended(self, role: Role) -> Ended | None:
        return read_ended(str(self.job), role) if self.job.is_dir() else None

    def end_of(self, role: Role, limit_s: float = LIMIT_S) -> Ended:
        wait_until(lambda: self.ended(role), lambda: f"{role} tells its end\n{self.logs()}", limit_s)
        found = self.ended(role)
        assert found is not None
        return found

    def logs(self) -> str:
        """What a failure shows: all that a person without this machine has."""
        views = {"launch": self.said, "squeue": self.cluster.run("squeue", "--long").stdout}
        paths = [*sorted(self.job.glob("*_*.err")), *sorted(self.job.glob("*_*.out")), self.job / "watch.log"]
        views |= {path.name: path.read_text(errors="replace") for path in paths if path.exists()}
        views |= {path.name: path.read_text() for path in self.job.glob("*_ended.json")}
        views["Slurm"] = self.cluster.logs()
        views["processes"] = described(processes_with(f"SKYRL_JOB_DIR={self.job}"))
        return "\n".join(f"== {name}\n{text[-SHOWN:]}" for name, text in views.items() if text.strip())

    def log(self, role: Role) -> str:
        return "".join(path.read_text(errors="replace") for path in sorted(self.job.glob(f"{role.log_name}_*.*")))

    def saved(self, step: int) -> Path:
        return self.at / "checkpoints" / "skyrl" / "run" / f"global_step_{step}"

    def weights(self, step: int, *, rank: int = 0, ranks: int = 1) -> bytes:
        return (self.saved(step) / "actor" / f"model_world_size_{ranks}_rank_{rank}.pt").read_bytes()

    def has_step(self, step: int) -> bool:
        found = self.saved(step)
        return found.is_dir() and examine(str(found)).complete and examine(str(found)).marked

    def counts(self) -> list[Counts]:
        path = self.job / "rollout_counts.jsonl"
        return [from_json(Counts, line) for line in path.read_text().splitlines()] if path.exists() else []

    def leaves_nothing(self) -> None:
        """No job, process, mount or directory of the launch is left on any node."""
        ids = {path.stem.rpartition("_")[2] for path in self.job.glob("*_*.err")}  # of earlier turns too
        assert set(read_jobs(str(self.job)).values()) <= ids
        for one in ids:
            self.cluster.wait(one, LIMIT_S)
        mark = f"SKYRL_JOB_DIR={self.job}"
        wait_until(
            lambda: not processes_with(mark), lambda: f"no process is left:\n{described(processes_with(mark))}", LEFT_S
        )
        machines = self.cluster.machines
        places = [machines.tmp(node) for node in self.cluster.nodes] if machines else [Path("/tmp")]
        names = [name for one in ids for name in (f"*skyrl-*{one}*", f"r{one}*")]
        assert [path for at in places for name in names for path in at.glob(name)] == []
        mounts = Path("/proc/self/mountinfo").read_text()
        assert [line for line in mounts.splitlines() if any(f"skyrl-{os.getuid()}-{one}" in line for one in ids)] == []
