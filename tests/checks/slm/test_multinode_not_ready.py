"""SLM003."""

import dataclasses

import pytest

from checks.slm.multinode_not_ready import multinode_not_ready
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.fabric import Fabric
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.mounts import parse_mountinfo
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan, Value
from support import judge, plan_of, recorded

IN_JOB = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NUM_NODES": "2"}
MOUNTS = parse_mountinfo(
    "22 1 8:2 / / rw - xfs /dev/sda2 rw\n40 22 0:30 / /tmp rw - tmpfs tmpfs rw\n50 22 0:50 / /home rw - nfs4 f:/h rw\n"
)
FABRIC = Fabric(interfaces=("eth0", "ib0", "lo"), rdma=(("mlx5_0", "mlx5_core"),))


def judged(
    plan: Plan | None = None, *, cwd: str = "/home/me", fabric: Fabric = FABRIC, **environ: str
) -> list[Finding]:
    host = Host(name="n", user="u", uid=1, gid=1, pid=1, cpus=1, system="Linux", python="p", cwd=cwd, now=0.0)
    variables = Environ({**IN_JOB, **environ})
    return list(multinode_not_ready(plan or Plan(), variables, host, MOUNTS, fabric))


def said(*args: Plan, fabric: Fabric = FABRIC, cwd: str = "/home/me", **environ: str) -> list[tuple[Severity, str]]:
    return [(one.severity, one.message) for one in judged(*args, fabric=fabric, cwd=cwd, **environ)]


@pytest.mark.parametrize(("starts", "unknown", "count"), [(False, "", 1), (True, "", 0), (False, "not read", 0)])
def test_a_job_script_of_two_nodes_starts_ray(starts: bool, unknown: str, count: int) -> None:
    value = Value("ray start", starts, Location("run.sh", 3, "ray start"), own="ray start", unknown=unknown)
    made = dataclasses.replace(plan_of(slurm__nodes=2), own={"ray start": value})
    assert [severity for severity, message in said(made) if "has no `ray start`" in message] == [
        Severity.WARNING
    ] * count


def test_two_nodes_with_all_that_they_need() -> None:
    assert said() == []
    assert said(NCCL_SOCKET_IFNAME="ib", NCCL_IB_HCA="mlx5_0:1") == []
    assert said(NCCL_SOCKET_IFNAME="^lo,docker", GLOO_SOCKET_IFNAME="=eth0") == []
    assert said(NCCL_SOCKET_IFNAME="") == []


def test_one_node_needs_none_of_it() -> None:
    with pytest.raises(NotApplicable):
        judged(SLURM_JOB_NUM_NODES="1", NCCL_SOCKET_IFNAME="eno")
    with pytest.raises(NotApplicable):
        judged(SLURM_JOB_ID="", SLURM_JOB_NUM_NODES="2")
    with pytest.raises(CouldNotLook):
        judged(SLURM_JOB_NUM_NODES="many")


@pytest.mark.parametrize("name", ["NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"])
@pytest.mark.parametrize("value", ["eno", "=eth", "^eth,ib,lo", "eno1,eno2"])
def test_an_interface_that_is_not_there(name: str, value: str) -> None:
    assert judged(**{name: value}) == [
        Finding(
            message=f"{name}={value} matches no interface of this node (eth0, ib0); expected one of them, or the variable unset",
            remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="let NCCL find it", commands=(f"unset {name}",)),
        )
    ]


def test_a_device_that_is_not_there() -> None:
    assert said(NCCL_IB_HCA="mlx5_1") == [
        (
            Severity.WARNING,
            (
                "NCCL_IB_HCA=mlx5_1 matches no RDMA device of this node (mlx5_0), so NCCL uses TCP; expected one of them, or the variable unset"
            ),
        )
    ]


def test_efa_wants_its_plug_in() -> None:
    bare = Fabric(interfaces=("eth0",), rdma=(("rdmap0s6", "efa"),))
    assert [severity for severity, _ in said(fabric=bare)] == [Severity.WARNING]
    assert said(fabric=Fabric(interfaces=("eth0",), rdma=bare.rdma, plugin="/opt/x/libnccl-net.so")) == []


def test_a_login_node_s_network_is_not_looked_at() -> None:
    assert said(plan_of(slurm__nodes=2), SLURM_JOB_ID="", NCCL_SOCKET_IFNAME="eno") == []


def test_directories_must_be_where_all_nodes_see_them() -> None:
    plan = plan_of(slurm__nodes=2, trainer__checkpoint_dir="ckpt")
    own = "which is local to this node; expected a directory that all nodes can see"
    disk = "which looks local to this node; expected a directory that all nodes can see"
    assert said(plan, cwd="/tmp/run") == [
        (Severity.WARNING, f"the working directory /tmp/run is on tmpfs (/tmp), {own}"),
        (Severity.WARNING, f"trainer.checkpoint_dir /tmp/run/ckpt is on tmpfs (/tmp), {own}"),
    ]
    assert said(plan_of(slurm__nodes=2, trainer__checkpoint_dir="/scratch/c"), SKYRL_JOB_DIR="/home/j") == [
        (Severity.WARNING, f"trainer.checkpoint_dir /scratch/c is on xfs (/), {disk}"),
    ]
    assert said(plan_of(slurm__nodes=2, trainer__checkpoint_dir="s3://bucket/c")) == []


def test_reproduces_on_a_recording() -> None:
    outcome = judge("SLM003", "nodes_of_a_job")
    assert outcome.status is Status.FAIL
    assert outcome.findings[:2] == (
        config_finding(
            "$SKYRL_JOB_DIR /tmp/.skyrl_jobs/20261121_061500_launch is on xfs (/tmp), which looks local to this node; expected a directory that all nodes can see",
            None,
            summary="launch from, and write to, a file system that all nodes can see",
            severity=Severity.WARNING,
        ),
        Finding(
            message="NCCL_SOCKET_IFNAME=eno matches no interface of this node (eth0, ib0); expected one of them, or the variable unset",
            remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="let NCCL find it", commands=("unset NCCL_SOCKET_IFNAME",)),
        ),
    )
    assert [one.message.partition(", so")[0] for one in outcome.findings[2:]] == [
        "NCCL_IB_HCA==mlx5_1 matches no RDMA device of this node (rdmap0s6)",
        "this node has EFA, but libnccl-net of aws-ofi-nccl is neither in LD_LIBRARY_PATH nor in its usual directories",
    ]


def test_silent_on_the_clean_machine() -> None:
    assert judge("SLM003", "clean_gpu_node").status is Status.SKIP
    assert judge("SLM003", "clean_gpu_node", plan=plan_of(slurm__nodes=2)).status is Status.PASS
    assert judge("SLM003", "clean_gpu_node", plan=plan_of(slurm__nodes=2), role=Role.LOGIN).status is Status.PASS


def test_what_cannot_be_read_is_unknown() -> None:
    machine = recorded("clean_gpu_node").but({"list /sys/class/net": {"unreadable": "/sys/class/net", "why": "denied"}})
    assert judge("SLM003", machine, plan=plan_of(slurm__nodes=2)).status is Status.UNKNOWN
