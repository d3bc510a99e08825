"""Launches in a row on a cluster of its own, and what they leave: `PYTHONPATH=tests python -m lanes.slurm.many --count 50`."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from lanes.slurm.lab import LIMIT_S, Cluster, a_cluster, processes_with
from lanes.slurm.site import Launched, Site, bash
from skyrl_train.launch.directory import read_jobs
from skyrl_train.launch.role import Role

# What a real payload makes: a daemon of its own session, a directory of caches, a short one for sockets, the store of
# its sandboxes with files of other ids, and, where root may, a mount.
LEAVES = """
at=/tmp/skyrl-$(id -u)-$SLURM_JOB_ID
mkdir -p $at/vllm $at/podman/graph/merged /tmp/r$SLURM_JOB_ID/ray
touch $at/vllm/cache $at/podman/graph/file; chmod -R 500 $at/vllm
mount -t tmpfs none $at/podman/graph/merged && touch $at/podman/graph/merged/file
chown -R 100000 $at/podman/graph
setsid sleep 600 < /dev/null > /dev/null 2>&1 &
setsid env -u SKYRL_JOB_DIR -u SLURM_JOB_ID unshare --mount sh -c "mount --bind $at/podman /mnt; exec sleep 600" &
"""


def a_payload(done: str, then: str = "sleep 600") -> str:
    return f"{LEAVES}touch {done}\n{then}\n"


def left(job_dir: Path) -> list[str]:
    """Processes, mounts and directories of the jobs of this launch."""
    ids = read_jobs(str(job_dir)).values()
    processes = [
        pid
        for mark in (f"SKYRL_JOB_DIR={job_dir}", *(f"SLURM_JOB_ID={one}" for one in ids))
        for pid in processes_with(mark)
    ]
    names = [name for one in ids for name in (f"/tmp/skyrl-{os.getuid()}-{one}", f"/tmp/r{one}")]
    tables = [path for path in Path("/proc").glob("[0-9]*/mountinfo") if _names(path, names)]
    return [*map(str, sorted(set(processes))), *map(str, tables), *(name for name in names if os.path.lexists(name))]


def _names(table: Path, names: list[str]) -> bool:
    try:
        text = table.read_text(errors="replace")
    except OSError:
        return False
    return any(f"{name}/" in text for name in names)


def launches(cluster: Cluster, at: Path, count: int) -> list[str]:
    """What is left after so many launches, each to its end."""
    before = _snapshot(cluster)
    for number in range(count):
        place = at / f"launch{number}"
        place.mkdir()
        made: Launched = Site(cluster, place).launch(bash(a_payload("begun", "true")))
        assert made.ended(Role.TRAINER).reason == "", made.said + made.log(Role.TRAINER)
        for role in Role:
            cluster.wait(made.job(role))
        end = time.monotonic() + LIMIT_S
        while left(made.job_dir) and time.monotonic() < end:
            time.sleep(0.05)
        if left(made.job_dir):
            return left(made.job_dir)
    end = time.monotonic() + LIMIT_S
    while _snapshot(cluster) - before and time.monotonic() < end:
        time.sleep(0.05)
    return sorted(_snapshot(cluster) - before)


def _snapshot(cluster: Cluster) -> set[str]:
    """What is there of this cluster: other programs of this machine come and go."""
    return {f"process {pid}" for pid in processes_with(f"SLURM_CONF={cluster.base}/slurm.conf")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory(prefix="sm", dir="/tmp", ignore_cleanup_errors=True) as name:
        base = Path(name)
        base.chmod(0o755)
        (base / "cluster").mkdir()
        with a_cluster(base / "cluster") as cluster:
            began = time.monotonic()
            found = launches(cluster, base, count)
    sys.stdout.write(f"{count} launches in {time.monotonic() - began:.0f} s; left: {found or 'nothing'}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
