"""A run on several nodes lacks a shared directory or network, or its nodes differ.

## What it does
For a plan or a job of several nodes it checks that every node can see the job's directory, the working directory and
the checkpoints, that the interface and the device in NCCL's variables exist, and that NCCL's plug-in is installed if
the node has Amazon's EFA. A job script that starts verl on several nodes must start a Ray cluster first. `--nodes` examines every node of the job at once and compares GPUs, driver, kernel,
versions, variables and clocks, and checks that each node reaches the first one. The most frequent value is taken as
the right one; without one, all nodes are named. A node that does not answer in time is UNKNOWN, which is not a pass.

## Why it breaks training
Ray rejects a node with another version of Ray or Python. verl needs the same number of GPUs on every node. NCCL waits
for the slowest node, and forever for one that it cannot reach. A checkpoint on a node's own disk is incomplete. All
of this appears only after the whole allocation has started.

## How to fix
Exclude the node that differs (`sbatch --exclude=…`; the gate writes nodes_failing.txt), use directories that all
nodes can see, and correct or unset the variable.

## Example
    RuntimeError: Version mismatch: The cluster was started with:
    NCCL WARN Bootstrap : no socket interface found
"""

import posixpath
from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.fabric import Fabric, matching
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.job import node_count
from skyrl_doctor.facts.mounts import Mounts
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.keys import STARTS_RAY
from skyrl_doctor.plan.model import Plan

NODES, CHECKPOINTS = "slurm.nodes", "trainer.checkpoint_dir"
INTERFACES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
HCA = "NCCL_IB_HCA"
JOB_DIR = "SKYRL_JOB_DIR"
IN_MEMORY = ("tmpfs", "ramfs", "overlay", "squashfs")
"""No other node sees these, whatever the site exports."""
ON_DISK = ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs")


@check("SLM003", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/launch/steps.py")
def multinode_not_ready(plan: Plan, environ: Environ, host: Host, mounts: Mounts, fabric: Fabric) -> Iterator[Finding]:
    if max(node_count(environ) or 1, plan.integer(NODES) or 1) < 2:
        raise NotApplicable("the run uses one node")
    yield from _cluster(plan)
    yield from _places(plan, environ, host, mounts)
    if host_trains(environ):
        yield from _interfaces(environ, fabric)
        yield from _devices(environ, fabric)


def host_trains(environ: Environ) -> bool:
    """A login node's network is not the one that NCCL will use."""
    return environ.in_slurm_job


def _cluster(plan: Plan) -> Iterator[Finding]:
    """A job of several nodes whose script starts verl alone."""
    nodes, starts = plan.integer(NODES) or 1, plan.own.get(STARTS_RAY)
    if nodes > 1 and starts is not None and not starts.unknown and starts.value is False:
        yield config_finding(
            f"{plan.name(NODES)} = {nodes}, but the job script has no `ray start`, so ray.init() finds the GPUs of one node only; expected a Ray cluster over all {nodes} nodes before the trainer starts",
            starts.location,
            summary="run `ray start` on every node of the job first, as `skyrl-train launch` does",
            severity=Severity.WARNING,
        )


def _places(plan: Plan, environ: Environ, host: Host, mounts: Mounts) -> Iterator[Finding]:
    checkpoints = plan.text(CHECKPOINTS)
    places = {f"${JOB_DIR}": environ.get(JOB_DIR, ""), "the working directory": host.cwd}
    if checkpoints and "://" not in checkpoints:
        places[plan.name(CHECKPOINTS)] = posixpath.join(host.cwd, checkpoints)
    for name, path in places.items():
        mount = mounts.of(posixpath.normpath(path)) if path.startswith("/") else None
        if mount is None or mount.kind not in (*IN_MEMORY, *ON_DISK):
            continue
        sure = "is" if mount.kind in IN_MEMORY else "looks"
        yield config_finding(
            f"{name} {path} is on {mount.kind} ({mount.point}), which {sure} local to this node; expected a directory that all nodes can see",
            plan.place(CHECKPOINTS) if name == plan.name(CHECKPOINTS) else None,
            summary="launch from, and write to, a file system that all nodes can see",
            severity=Severity.WARNING,
        )


def _interfaces(environ: Environ, fabric: Fabric) -> Iterator[Finding]:
    for name in INTERFACES:
        said = environ.get(name, "")
        there = tuple(one for one in fabric.interfaces if one != "lo")
        if said and not matching(fabric.interfaces, said):
            seen = f"{name}={said} matches no interface of this node ({', '.join(there) or 'none'})"
            yield _unset(name, f"{seen}; expected one of them, or the variable unset", Severity.ERROR)


def _devices(environ: Environ, fabric: Fabric) -> Iterator[Finding]:
    said, names = environ.get(HCA, ""), tuple(name for name, _ in fabric.rdma)
    if said and not matching(names, said):
        seen = f"{HCA}={said} matches no RDMA device of this node ({', '.join(names) or 'none'})"
        yield _unset(HCA, f"{seen}, so NCCL uses TCP; expected one of them, or the variable unset", Severity.WARNING)
    if fabric.has_efa and fabric.plugin is None:
        yield Finding(
            message="this node has EFA, but libnccl-net of aws-ofi-nccl is neither in LD_LIBRARY_PATH nor in its usual directories, so NCCL uses TCP; expected the plug-in",
            severity=Severity.WARNING,
            remedy=Remedy(
                kind=RemedyKind.FIX_ENV,
                summary="add the plug-in's directory to LD_LIBRARY_PATH",
                settings={"LD_LIBRARY_PATH": "/opt/amazon/ofi-nccl/lib:$LD_LIBRARY_PATH"},
            ),
        )


def _unset(name: str, message: str, severity: Severity) -> Finding:
    remedy = Remedy(kind=RemedyKind.FIX_ENV, summary="let NCCL find it", commands=(f"unset {name}",))
    return Finding(message=message, severity=severity, remedy=remedy)
