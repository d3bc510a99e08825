"""The scripts of contrib/slurm as a site installs them: in the slurm.conf of a real Slurm."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanes.slurm.lab import GPU_PARTITION, Cluster, a_cluster, wait_until

CONTRIB = Path(__file__).parents[3] / "contrib" / "slurm"
GPU = (f"--partition={GPU_PARTITION}", "--gres=gpu:1")
NAMED = "named"
"""A partition of the GPU node whose jobs are ours, as site.sh says."""
HOOKS = ("Prolog", "TaskProlog", "Epilog", "JobSubmitPlugins")
# The doctor as installed. It notes in `asked` what it was asked; a file named `hangs` stands for a driver that does not answer, `taken` for a stranger's memory.
DOCTOR = """#!/bin/sh
export PYTHONPATH={base}/python SLURM_CONF={base}/slurm.conf
echo "$SLURM_JOB_ID $1" >>{site}/asked
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
        lines = self.cluster.run(
            "sinfo", "--noheader", "--Node", f"--nodes={name}", "--format=%T|%E"
        ).stdout.splitlines()
        state, _, reason = lines[0].partition("|")  # one line for each partition of the node
        return state.rstrip("*"), reason  # * is: it has not answered yet, since it was set free

    @contextmanager
    def without_hooks(self) -> Iterator[None]:
        """The same cluster with a slurm.conf that names none of the scripts."""
        self._reconfigure(hooks=False)
        try:
            yield
        finally:
            self._reconfigure(hooks=True)

    def _reconfigure(self, *, hooks: bool) -> None:
        path = self.cluster.base / "slurm.conf"
        lines = [line.removeprefix("#") for line in path.read_text().splitlines()]
        off = [f"#{line}" if line.startswith(HOOKS) and not hooks else line for line in lines]
        path.write_text("\n".join(off) + "\n")
        assert self.cluster.run("scontrol", "reconfigure").returncode == 0
        for node in self.cluster.nodes:
            wait_until(lambda node=node: self._has_task_prolog(node) == hooks, f"{node} has read slurm.conf again")

    def _has_task_prolog(self, node: str) -> bool:
        """Slurm itself sets this variable for the tasks of a node with a TaskProlog."""
        partition = GPU_PARTITION if node.startswith("gpu") else "test"
        words = ("srun", f"--partition={partition}", f"--nodelist={node}", "printenv", "SLURM_SCRIPT_CONTEXT")
        return self.cluster.run(*words).stdout == "prolog_task\n"

    def submit(self, *words: str, at: Path, **environ: str) -> subprocess.CompletedProcess[str]:
        return self.cluster.run("sbatch", "--parsable", *words, cwd=at, **environ)

    def script(self, job_id: str) -> str:
        """The script as Slurm has it."""
        return self.cluster.run("scontrol", "write", "batch_script", job_id, "-").stdout

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
        f"STATE_DIR={site}/state\nGPU_PARTITIONS={NAMED}\nPROLOG_LIMIT_S=10\nTASKPROLOG_LIMIT_S=50\nHEALTH_LIMIT_S=50\n"
    )
    lua = (CONTRIB / "job_submit.lua").read_text().replace("/opt/skyrl-doctor/bin/skyrl-doctor", f"{site}/doctor")
    (base / "job_submit.lua").write_text(lua)
    lines = {"PrologFlags": "Alloc", "PrologEpilogTimeout": "60", "JobSubmitPlugins": "lua"}
    lines |= {"HealthCheckInterval": "2", "HealthCheckNodeState": "IDLE"}
    scripts = {"Prolog": "prolog", "TaskProlog": "taskprolog", "Epilog": "epilog", "HealthCheckProgram": "healthcheck"}
    lines |= {key: f"{site}/{name}.sh" for key, name in scripts.items()}
    partition = f"PartitionName={NAMED} Nodes=gpu1\n"
    return "".join(f"{key}={value}\n" for key, value in lines.items()) + partition


@contextmanager
def installed_cluster() -> Iterator[Installed]:
    with tempfile.TemporaryDirectory(prefix="ss", dir="/tmp", ignore_cleanup_errors=True) as name:
        base = Path(name)
        base.chmod(0o755)
        with a_cluster(base, install(base)) as cluster:
            taken = base / "site" / "full"
            taken.mkdir()
            fake = (base / "python" / "pynvml.py").read_text()
            (taken / "pynvml.py").write_text(fake.replace("13 * MIB", "3000 * MIB"))
            yield Installed(cluster, base / "site")
