"""GPU004."""

import pytest

from checks.gpu.ray_gpus_missing import ray_gpus_missing
from plans import plan as read_plan
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.ray_clusters import AddressFile, RayClusters
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

NONE = RayClusters()
TWO = plan_of(slurm__nodes=2, slurm__gpus_per_node=8)
VERL = "python3 -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8"


def judged(plan: Plan, clusters: RayClusters = NONE, **environ: str) -> list[Finding]:
    return list(ray_gpus_missing(plan, Environ(environ), clusters))


def in_job(plan: Plan, nodes: str) -> list[tuple[Severity, str]]:
    return [(one.severity, one.message) for one in judged(plan, SLURM_JOB_ID="1", SLURM_JOB_NUM_NODES=nodes)]


def test_as_many_nodes_as_planned() -> None:
    assert in_job(TWO, "2") == []
    assert in_job(plan_of(slurm__gpus_per_node=1), "1") == []
    assert judged(TWO) == []  # outside of a job nobody knows


def test_too_few_nodes() -> None:
    assert judged(TWO, SLURM_JOB_ID="1", SLURM_NNODES="1") == [
        config_finding(
            "slurm.nodes = 2, but this job has 1 node: Ray will have 8 of 16 GPUs; expected 2 nodes",
            TWO.place("slurm.nodes"),
            {"slurm.nodes": "1"},
            summary="submit with --nodes=2, or plan for 1 node",
        )
    ]


def test_nodes_that_nobody_uses() -> None:
    assert in_job(plan_of(slurm__gpus_per_node=8), "4") == [
        (
            Severity.WARNING,
            "slurm.nodes = 1, but this job has 4 nodes; 3 would stay idle until the job ends; expected 1 node",
        )
    ]


def test_a_limit_in_ray_s_own_settings() -> None:
    plan = read_plan(f"{VERL} trainer.nnodes=1 +ray_kwargs.ray_init.num_gpus=4", "run.sh")
    assert [one.message for one in judged(plan)] == [
        "ray_kwargs.ray_init.num_gpus = 4, but trainer.n_gpus_per_node = 8, so Ray will not count all GPUs; expected 8, or no such key"
    ]


def test_verl_over_two_nodes_wants_a_cluster_first() -> None:
    plan = read_plan(VERL, "run.sh")
    (finding,) = judged(plan)
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith("trainer.nnodes = 2, but no Ray cluster exists to join (neither RAY_ADDRESS nor")
    assert judged(plan, RAY_ADDRESS="10.0.0.1:6379") == []
    assert judged(plan, RayClusters(file=AddressFile("/tmp/ray/ray_current_cluster", "10.0.0.1:6379", 1))) == []
    assert judged(plan, RAY_ADDRESS="local") == [finding]


def test_without_a_plan_there_is_nothing_to_compare() -> None:
    with pytest.raises(NotApplicable):
        judged(Plan())
    with pytest.raises(NotApplicable):
        judged(plan_of(slurm__nodes=2))
    with pytest.raises(CouldNotLook):
        in_job(TWO, "two")


def test_reproduces_on_a_recording() -> None:
    outcome = judge("GPU004", "clean_gpu_node", plan=TWO)
    assert [one.message for one in outcome.findings] == [
        "slurm.nodes = 2, but this job has 1 node: Ray will have 8 of 16 GPUs; expected 2 nodes"
    ]


def test_silent_on_the_clean_machine() -> None:
    assert judge("GPU004", "clean_gpu_node", plan=plan_of(slurm__nodes=1, slurm__gpus_per_node=1)).status is Status.PASS
