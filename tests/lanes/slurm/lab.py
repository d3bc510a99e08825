"""A cluster for one session: real slurmctld and slurmd on this machine, nothing in /etc, no port of another's.

Two nodes: cpu1, and gpu1 with two MIG slices. The slices come out of Slurm's own code, from a fake_gpus.conf.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lanes.ports import held_ports
from lanes.slurm.machines import Machines, machines

FAKE = Path(__file__).parents[2] / "fakes" / "nvml" / "pynvml.py"
SLICES = tuple(f"MIG-aaaaaaaa-0000-0000-0000-00000000000{n}" for n in (1, 2))
# NVML's fake with the slices that Slurm gave this job, as a driver shows them where Slurm confines devices.
_NVML = f"""
import json, os
MIB = 1 << 20
NO_PERMISSION = {{"nvml_error": 4}}
of_slurm = (os.environ.get(f"SLURM_{{what}}_GPUS") for what in ("JOB", "STEP"))
given = (os.environ.get("LANE_GPUS") or next(filter(None, of_slurm), "0,1")).split(",")
slices = [
    {{"uuid": uuid, "name": "NVIDIA A100-SXM4-80GB MIG 2g.20gb", "gi": number + 3, "ci": 0, "shape": [2, 2, 19968],
     "memory_v2": [19968 * MIB, 13 * MIB]}} if str(number) in given else NO_PERMISSION
    for number, uuid in enumerate({SLICES!r})
]
parent = {{"uuid": "GPU-aaaaaaaa-0000-0000-0000-000000000000", "name": "NVIDIA A100-SXM4-80GB", "mig": [1, 1],
          "most_slices": 2, "slices": slices, "memory_v2": [81920 * MIB, 76 * MIB], "computing": []}}
os.environ["FAKE_NVML"] = json.dumps({{"driver": "580.95.05", "gpus": [parent]}})
exec(compile(open({str(FAKE)!r}).read(), {str(FAKE)!r}, "exec"))
"""
CPU_PARTITION, GPU_PARTITION = "test", "gpu_test"
LIMIT_S = 300.0
"""Nothing waits as long where all is well: it is for a machine that is slow, and does other things too."""
_STEP_S = 0.02
_ENDED = frozenset(
    {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "SPECIAL_EXIT"}
)


def wait_until(condition: Callable[[], object], what: str | Callable[[], str] = "", limit_s: float = LIMIT_S) -> None:
    """Returns when the condition holds; fails when it does not within the limit. `what` may be asked then, not before."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"not within {limit_s:g} s: {what() if callable(what) else what or condition}"
        time.sleep(_STEP_S)


def configuration(
    base: Path,
    ports: Sequence[int],
    extra: str = "",
    gpu_nodes: Sequence[str] = ("gpu1",),
    machines: Machines | None = None,
) -> str:
    """slurm.conf. The scheduler looks at once, so that a job needs half a second and not five. Two clusters of one machine
    at once have no job's number in common, and so none of the directories that are named after one."""
    addresses = machines.addresses if machines else dict.fromkeys(("cpu1", *gpu_nodes), "127.0.0.1")
    gpu_lines = "\n".join(
        f"NodeName={name} NodeHostname=localhost NodeAddr={addresses[name]} Port={port} CPUs=4 RealMemory=64000 Gres=gpu:2g.20gb:2"
        for name, port in zip(gpu_nodes, ports[2:], strict=True)
    )
    return f"""
ClusterName=lane
FirstJobId={500 * ports[0]}
SlurmctldHost=localhost{f"({machines.host})" if machines else ""}
SlurmUser=root
SlurmctldPort={ports[0]}
AuthInfo=socket={base}/munge.socket
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool-%n
SlurmctldPidFile={base}/run/slurmctld.pid
SlurmdPidFile={base}/run/slurmd-%n.pid
SlurmctldLogFile={base}/log/slurmctld.log
SlurmdLogFile={base}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=60
MinJobAge=600
SchedulerParameters=sched_min_interval=10000,batch_sched_delay=0,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
GresTypes=gpu
NodeName=cpu1 NodeHostname=localhost NodeAddr={addresses["cpu1"]} Port={ports[1]} CPUs=4 RealMemory=64000
{gpu_lines}
PartitionName={CPU_PARTITION} Nodes=cpu1 Default=YES
PartitionName=short Nodes=cpu1 MaxTime=2
PartitionName=theirs Nodes=cpu1 AllowAccounts=them
PartitionName=lean Nodes=cpu1 MaxMemPerNode=2000
PartitionName=closed Nodes=cpu1 State=INACTIVE
PartitionName={GPU_PARTITION} Nodes={",".join(gpu_nodes)}
PartitionName=urgent Nodes={",".join(gpu_nodes)} PriorityTier=2
{extra}"""


@dataclass(frozen=True)
class Job:
    """What scontrol tells of one job."""

    id: str
    state: str
    reason: str
    exit_code: int


@dataclass
class Cluster:
    """A running cluster. `env` is what a user of it has."""

    base: Path
    env: Mapping[str, str]
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    nodes: tuple[str, ...] = ("cpu1", "gpu1")
    machines: Machines | None = None
    """Where each node is separate from this machine."""

    def run(
        self, *words: str, limit_s: float = LIMIT_S, cwd: Path | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """A command as a user of the cluster, with more variables where given."""
        env = {**self.env, **more}
        return subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, timeout=limit_s, check=False)

    def submit(self, script: str, *options: str, cwd: Path) -> str:
        """The id of a job that runs this text of bash."""
        path = cwd / "job.sh"
        path.write_text(f"#!/bin/bash\n{script}\n")
        done = self.run("sbatch", "--parsable", *options, str(path), cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _facts(self, job_id: str) -> dict[str, str]:
        done = self.run("scontrol", "--oneliner", "show", "job", job_id)
        assert done.returncode == 0, done.stderr
        return dict(word.split("=", 1) for word in done.stdout.split() if "=" in word)

    def job(self, job_id: str) -> Job:
        facts = self._facts(job_id)
        return Job(job_id, facts["JobState"], facts["Reason"], int(facts["ExitCode"].split(":")[0]))

    def wait(self, job_id: str, limit_s: float = LIMIT_S) -> Job:
        """The job when it has ended."""
        wait_until(lambda: self.job(job_id).state in _ENDED, f"job {job_id} ends", limit_s)
        return self.job(job_id)

    def wait_for(self, job_id: str, state: str, limit_s: float = LIMIT_S) -> None:
        wait_until(lambda: self.job(job_id).state == state, f"job {job_id} is {state}", limit_s)

    def start_again(self, job_id: str, limit_s: float = LIMIT_S) -> None:
        """Slurm lets a requeued job wait for two minutes before its next turn; the admin of this cluster for two seconds: a
        node refuses a job's next turn in the second in which it killed the one before."""

        def starts() -> bool:
            facts = self._facts(job_id)
            at = time.mktime(time.strptime(facts["EligibleTime"], "%Y-%m-%dT%H:%M:%S"))
            if facts["JobState"] == "PENDING" and at - time.time() > 10:
                self.run("scontrol", "update", f"JobId={job_id}", "StartTime=now+2")
            return facts["JobState"] == "RUNNING"

        self.wait_for(job_id, "PENDING", limit_s)
        wait_until(starts, lambda: f"job {job_id} starts again: {self._facts(job_id)}\n{self.logs()}", limit_s)

    def kill(self, job_id: str) -> None:
        """All of a job at once, as a node does whose memory has run out."""
        wait_until(lambda: not kill_all_with(f"SLURM_JOB_ID={job_id}"), f"nothing of job {job_id} lives")

    def logs(self) -> str:
        """The last of what the daemons wrote, for a failure to show."""
        paths = sorted((self.base / "log").glob("slurm*.log"))
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in paths)

    def jobs(self) -> list[str]:
        """The jobs that are queued or run."""
        return self.run("squeue", "--noheader", "--format=%i").stdout.split()

    def node_state(self, name: str) -> str:
        return self.run("sinfo", "--noheader", "--Node", f"--nodes={name}", "--format=%T").stdout.split()[0]

    @contextmanager
    def lost(self, node: str) -> Iterator[None]:
        """Its slurmd is killed, and Slurm gives the node up. Afterwards it takes jobs again."""
        daemon = next(one for one in self.daemons if node in one.args and one.poll() is None)  # type: ignore[operator]  # a list of words
        daemon.send_signal(signal.SIGKILL)
        daemon.wait(60)
        try:
            down = self.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")
            assert down.returncode == 0, down.stderr
            yield
        finally:
            _start(self, _slurmd(self, node), ready=lambda: True)
            self.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
            wait_until(lambda: self.node_state(node).rstrip("*") == "idle", f"{node} is back")

    def clear(self) -> None:
        """No job is left, and every node takes jobs again."""
        for job_id in self.jobs():
            self.run("scancel", "--full", job_id)
        wait_until(lambda: not self.jobs(), "the queue is empty")
        wait_until(lambda: {self.node_state(node) for node in self.nodes} == {"idle"}, "all nodes are idle")


@contextmanager
def cluster_of_lane(
    lane: str, gpu_nodes: tuple[str, ...] = ("gpu1",), separate: Sequence[Path] | None = None
) -> Iterator[Cluster]:
    """For the fixtures of a lane: in a short directory, for sockets lie in it. `separate` gives each GPU node a network and
    a /tmp of its own, in which these directories are those of this machine."""
    if os.getuid() != 0:
        pytest.skip(f"the {lane} lane needs root: slurmd starts jobs as their users")
    with tempfile.TemporaryDirectory(prefix=lane[:3], dir="/tmp", ignore_cleanup_errors=True) as name:
        base = Path(name)
        base.chmod(0o755)
        with ExitStack() as stack:
            made = None
            if separate is not None:
                nodes = ("cpu1", *gpu_nodes)
                made = stack.enter_context(machines(base / "machines", nodes, (base, *separate)))
            yield stack.enter_context(a_cluster(base, gpu_nodes=gpu_nodes, machines=made))


@contextmanager
def a_cluster(
    base: Path, extra: str = "", gpu_nodes: tuple[str, ...] = ("gpu1",), machines: Machines | None = None
) -> Iterator[Cluster]:
    """Starts everything and takes everything down again, with whatever its jobs left."""
    for name in ("state", "log", "run", "python"):
        (base / name).mkdir()
    (base / "python" / "pynvml.py").write_text(_NVML)
    _fake_slices(base, gpu_nodes)
    (base / "cgroup.conf").write_text("CgroupAutomount=no\n")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(base),
        "SLURM_CONF": str(base / "slurm.conf"),
        "PYTHONPATH": str(base / "python"),
    }
    cluster = Cluster(base, env, nodes=("cpu1", *gpu_nodes), machines=machines)
    with held_ports(2 + len(gpu_nodes)) as ports:
        (base / "slurm.conf").write_text(configuration(base, ports, extra, gpu_nodes, machines))
        yield from _running(cluster)


def _running(cluster: Cluster) -> Iterator[Cluster]:
    base = cluster.base
    try:
        _start(cluster, _munge(base), ready=lambda: (base / "munge.socket").exists())
        _start(cluster, ("slurmctld", "-D", "-i"), ready=lambda: cluster.run("scontrol", "ping").returncode == 0)
        for node in cluster.nodes:
            _start(cluster, _slurmd(cluster, node), ready=lambda node=node: cluster.node_state(node) == "idle")
        yield cluster
    finally:
        _stop(reversed(cluster.daemons))
        kill_all_with(f"SLURM_CONF={base}/slurm.conf")


def _slurmd(cluster: Cluster, node: str) -> tuple[str, ...]:
    inside = cluster.machines.words(node) if cluster.machines else ()
    return (*inside, "slurmd", "-D", "-N", node)


def processes_with(variable: str) -> list[int]:
    """The processes whose environment holds this NAME=value: what a job left behind."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (directory / "environ").read_bytes().split(b"\0"):
                found.append(int(directory.name))
    return found


def kill_all_with(variable: str) -> list[int]:
    """Those that lived."""
    found = processes_with(variable)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


def _fake_slices(base: Path, gpu_nodes: Sequence[str]) -> None:
    lines = []
    for number, uuid in enumerate(SLICES):
        device = base / f"nvidia{number}"
        os.mknod(device, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero under another name
        device.chmod(0o666)
        links = ",".join("-1" if other == number else "0" for other in range(len(SLICES)))
        lines.append(f"2g.20gb|4|0-3|{links}|{device}|{uuid}|nvidia_gpu_env\n")
    (base / "fake_gpus.conf").write_text("".join(lines))
    (base / "gres.conf").write_text(f"NodeName={','.join(gpu_nodes)} Name=gpu Type=2g.20gb File={base}/nvidia[0-1]\n")


def _munge(base: Path) -> tuple[str, ...]:
    """munged of our own: its own key and socket, so that the machine's is neither needed nor touched."""
    key = base / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    places = {"key-file": key, "socket": base / "munge.socket", "pid-file": base / "run" / "munged.pid"}
    places |= {"seed-file": base / "run" / "munged.seed", "log-file": base / "log" / "munged.log"}
    return ("munged", "--foreground", "--force", *(f"--{name}={path}" for name, path in places.items()))


def _start(cluster: Cluster, words: tuple[str, ...], ready: Callable[[], bool]) -> None:
    path = f"{cluster.env['PATH']}:/usr/sbin:/sbin"
    program = shutil.which(words[0], path=path)
    assert program is not None, f"{words[0]} is not installed"
    env = {**cluster.env, "PATH": path}
    with (cluster.base / "log" / f"{words[0]}.out").open("ab") as out:
        daemon = subprocess.Popen([program, *words[1:]], env=env, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    cluster.daemons.append(daemon)

    def up() -> bool:
        assert daemon.poll() is None, (cluster.base / "log" / f"{words[0]}.out").read_text()[-2000:]
        with suppress(IndexError):
            return ready()
        return False

    wait_until(up, f"{' '.join(words)} is up")


def _stop(daemons: Iterable[subprocess.Popen[bytes]]) -> None:
    for daemon in daemons:
        daemon.terminate()
        try:
            daemon.wait(10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait(10)
