"""The table of faults: what finds each, and the GPU seconds that it costs on a cluster of this machine.

    PYTHONPATH=tests python -m lanes.slurm.costs [--only WORD]

GPU seconds are the run time of the trainer's allocation times its GPUs; of a fault that strikes later, the part after it.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from lanes.slurm.faults import AT_LOGIN, ON_NODES, WHILE_RUNNING, Fault
from lanes.slurm.lab import Cluster, cluster_of_lane, wait_until
from lanes.slurm.several.two import NODES
from lanes.slurm.site import HERE, Launched, Site
from skyrl_train.launch.role import Role

FAULTS = (*AT_LOGIN, *ON_NODES, *WHILE_RUNNING)


@dataclass(frozen=True)
class Cost:
    """What a fault came to. `jobs`: how many jobs Slurm saw."""

    exit: int
    said: str
    jobs: int
    gpu_s: float


def cost(cluster: Cluster, at: Path, fault: Fault) -> Cost:
    """Runs a launch with this fault to its end."""
    site = Site(cluster, at)
    made = launch(site, fault)
    if made.status:
        return Cost(made.status, made.said, *spent(cluster, at))
    since = 0.0
    if fault.harm:
        wait_until(lambda: (at / "begun").exists(), lambda: f"the trainer runs: {made.said}{made.log(Role.TRAINER)}")
        since = time.time()
    with fault.harm(site, made) if fault.harm else nullcontext():
        ended = made.ended(Role.TRAINER)
        for role in Role:
            cluster.wait(made.job(role))
        log = made.log(Role.TRAINER) + (made.job_dir / "summary.md").read_text()
        return Cost(ended.status, f"{made.said}\n{ended.reason}\n{log}", *spent(cluster, at, since))


def launch(site: Site, fault: Fault, *more: str) -> Launched:
    variables = fault.prepare(site)
    (site.at / "run.toml").write_text(fault.config)
    job_dir = site.at / "job"
    standin = f"{sys.executable} {HERE / 'standin_runtime.py'} {job_dir}"
    words = [sys.executable, "-m", "skyrl_train", "launch", "run.toml", "--job-dir", str(job_dir), *fault.words, *more]
    words += ["--runtime-command", fault.runtime or standin] if fault.runtime is not None else []
    words += ["--trainer-command", fault.trainer] if fault.trainer is not None else []
    done = site.cluster.run(*words, cwd=site.at, **variables)
    return Launched(site.cluster, job_dir, done.returncode, done.stderr)


def spent(cluster: Cluster, at: Path, since: float = 0.0) -> tuple[int, float]:
    """How many jobs of this directory Slurm has, and their GPU seconds after the moment."""
    lines = cluster.run("scontrol", "--oneliner", "show", "job").stdout.splitlines()
    ours = [line for line in lines if f"WorkDir={at} " in f"{line} " and "JobName=skyrl-" in line]
    return len(ours), sum(gpu_seconds(line, since) for line in ours)


def gpu_seconds(line: str, since: float) -> float:
    facts = dict(word.split("=", 1) for word in line.split() if "=" in word)
    gpus = facts.get("TresPerNode", "").rpartition("gpu")[2].rpartition(":")[2]
    if not gpus or facts["StartTime"] == "Unknown":
        return 0.0
    begin, end = (time.mktime(time.strptime(facts[name], "%Y-%m-%dT%H:%M:%S")) for name in ("StartTime", "EndTime"))
    return int(gpus) * int(facts["NumNodes"]) * max(0.0, end - max(begin, since))


def wrong(fault: Fault, found: Cost) -> str:
    """Why the fault was not found as it must be; empty if it was."""
    if found.exit != fault.exit:
        return f"exit status {found.exit}, expected {fault.exit}: {found.said[-600:]}"
    if fault.named not in found.said:
        return f"expected {fault.named!r} in {found.said[-600:]}"
    is_early = fault in AT_LOGIN
    return f"{found.jobs} jobs and {found.gpu_s:.0f} GPU seconds" if is_early and (found.jobs or found.gpu_s) else ""


def table(cluster: Cluster, at: Path, faults: Sequence[Fault]) -> Iterator[tuple[str, str]]:
    """A line for each fault, and what is wrong with it."""
    for number, fault in enumerate(faults):
        place = at / f"fault{number}"
        place.mkdir()
        found = cost(cluster, place, fault)
        line = f"| {fault.title} | {fault.found} | {found.exit} | {found.gpu_s:.0f} |"
        yield line, wrong(fault, found)
        cluster.clear()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="faults whose title has the word")
    only = parser.parse_args().only
    faults = [fault for fault in FAULTS if only in fault.title]
    faulty = 0
    with tempfile.TemporaryDirectory(prefix="co", dir="/tmp") as at, cluster_of_lane("slurm", NODES) as cluster:
        print("| fault | found | exit | GPU seconds |\n|---|---|---|---|")  # noqa: T201 -- a program of the lane
        for line, trouble in table(cluster, Path(at), faults):
            print(line, f"WRONG: {trouble}" if trouble else "", flush=True)  # noqa: T201
            faulty += bool(trouble)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
