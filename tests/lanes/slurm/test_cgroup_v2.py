"""Jobs whose memory Slurm limits with control groups of version 2, where the machine has them."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.slurm.lab import Cluster, a_cluster
from skyrl_doctor.logs.diagnose import diagnose

ROOT = Path(__file__).parents[3]
CONTROLLERS = Path("/sys/fs/cgroup/cgroup.controllers")
pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(
        not CONTROLLERS.exists() or "memory" not in CONTROLLERS.read_text().split(),
        reason="needs control groups of version 2 with the memory controller",
    ),
]
LIMIT_MIB = 300
SLURM_CONF = """
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/none
"""
CGROUP_CONF = "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainRAMSpace=yes\n"
# What the doctor, the watch and the runtime read of the groups of their own job.
READS = """
import json, os
from skyrl_doctor.facts.cgroup import cgroup
from skyrl_doctor.facts.gpu.process_owner import parse_owner
from skyrl_doctor.facts.host import host
from skyrl_doctor.facts.ray_clusters import slurm_jobs
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch.sample.node import host_memory
from skyrl_train.sandbox.runtime.exceeded_limits import oom_kills

kept = bytearray(100 << 20)
machine = LocalMachine()
here = machine.read("/proc/self/cgroup")
level = cgroup(machine, host(machine)).least_memory
fill = host_memory(machine, 0.0)[0]
child = os.fork()
if child == 0:
    os.execvp("sleep", ["sleep", "60"])
print(json.dumps({
    "group": here,
    "level": [level.path, level.limit, level.used],
    "watch": [round(fill.used * 1024), round(fill.limit * 1024)],
    "owner": parse_owner(machine.read("/proc/self/status"), here).job,
    "ray": sorted(slurm_jobs(here)),
    "killed": oom_kills(os.getpid()),
}))
os.kill(child, 9)
"""


@pytest.fixture(scope="module")
def limited() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="v2", dir="/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with a_cluster(Path(name), SLURM_CONF, cgroup_conf=CGROUP_CONF) as cluster:
            yield cluster


@pytest.mark.parametrize("step", ["", "srun -n1 "], ids=["batch", "step"])
def test_the_limit_and_the_job_are_found(limited: Cluster, tmp_path: Path, step: str) -> None:
    (tmp_path / "reads.py").write_text(READS)
    text = f"export PYTHONPATH={ROOT}\n{step}{sys.executable} reads.py >found"
    job = limited.wait(limited.submit(text, f"--mem={LIMIT_MIB}", "--output=out", cwd=tmp_path))
    assert job.state == "COMPLETED", (tmp_path / "out").read_text()
    found = json.loads((tmp_path / "found").read_text())
    path, limit, used = found["level"]
    assert (limit, f"/job_{job.id}" in path) == (LIMIT_MIB << 20, True)
    assert 100 << 20 < used <= limit
    assert 100 < found["watch"][0] < found["watch"][1] == LIMIT_MIB
    assert (found["owner"], found["ray"], found["killed"]) == (job.id, [job.id], [])


def test_a_job_that_the_kernel_killed_for_memory_is_named(limited: Cluster, tmp_path: Path) -> None:
    text = f"srun -n1 {sys.executable} -c 'x = bytearray({2 * LIMIT_MIB} << 20)'"
    job = limited.wait(limited.submit(text, f"--mem={LIMIT_MIB}", "--output=out", cwd=tmp_path))
    assert job.state in ("OUT_OF_MEMORY", "FAILED"), (tmp_path / "out").read_text()
    root = diagnose([str(tmp_path / "out")]).diagnosis.root
    assert root is not None, (tmp_path / "out").read_text()
    assert root.failure.name == "ENV007"
