"""Ray will have fewer GPUs than the run wants, because nodes are missing.

## What it does
Compares the nodes that the plan wants with those that Slurm gave to this job, and `ray_init.num_gpus` with the plan's GPUs of
a node. Where the plan wants several nodes and is not launched by `skyrl-train`, it also looks for the Ray cluster that has
to run before the trainer starts. How many GPUs each node gives is GPU002's.

## Why it breaks training
`ray.init()` without a cluster to join starts one of this node alone. verl then ends at once, or waits for ever for GPUs
that nobody adds. Nodes that no one uses are paid for until the job ends, and the job's exit status is 0.

## How to fix
Ask Slurm for as many nodes as the plan says, and start one Ray cluster over all of them first. `skyrl-train launch` does
both: it waits until every node and every GPU has joined, and says which one has not.

## Example
    ValueError: Total available GPUs 8.0 is less than total desired GPUs 16
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.job import node_count
from skyrl_doctor.facts.ray_clusters import RayClusters
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.verdicts import fault, required
from skyrl_train.node.ray import ADDRESS, starts_own_cluster

NODES, PER_NODE = "slurm.nodes", "slurm.gpus_per_node"
NUM_GPUS = ("ray_kwargs.ray_init.num_gpus", "ray_init.num_gpus")


@check("GPU004", roles=[Role.GPU], fix="skyrl_train/rl/ray_ready.py")
def ray_gpus_missing(plan: Plan, environ: Environ, clusters: RayClusters) -> Iterator[Finding]:
    nodes, each = required(plan).integer(NODES), plan.integer(PER_NODE)
    if each is None or each < 1:
        raise NotApplicable(f"no plan says how many GPUs a node should have ({PER_NODE})")
    wanted = nodes if nodes is not None and nodes > 0 else 1
    given = node_count(environ)
    if given is not None and given != wanted:
        yield _nodes(plan, given, wanted, each)
    yield from _limited(plan, each)
    if wanted > 1 and not plan.is_of("run-config") and not _joins(environ, clusters):
        yield _alone(plan, wanted, each)


def _nodes(plan: Plan, given: int, wanted: int, each: int) -> Finding:
    seen = f"{plan.name(NODES)} = {wanted}, and this job has {_count(given)}"
    if given < wanted:
        message, severity = f"{seen}: Ray will have {given * each} of {wanted * each} GPUs", Severity.ERROR
    else:
        message, severity = f"{seen}; {given - wanted} would stay idle until the job ends", Severity.WARNING
    return fault(
        f"{message}; wanted {_count(wanted)}",
        plan.place(NODES),
        plan.settings({NODES: str(given)}),
        summary=f"submit with --nodes={wanted}, or plan for {_count(given)}",
        severity=severity,
    )


def _limited(plan: Plan, each: int) -> Iterator[Finding]:
    for key in NUM_GPUS:
        found = plan.own.get(key)
        value = found.value if found is not None and not found.unknown else None
        if found is not None and isinstance(value, int | float) and not isinstance(value, bool) and value < each:
            yield fault(
                f"{found.shown}, and {plan.name(PER_NODE)} = {each}: Ray will count no more; wanted {each}, or no such key",
                found.location,
                {found.name: str(each)},
            )


def _joins(environ: Environ, clusters: RayClusters) -> bool:
    if starts_own_cluster(environ):
        return False
    return bool(environ.get(ADDRESS)) or clusters.file is not None


def _alone(plan: Plan, wanted: int, each: int) -> Finding:
    return Finding(
        message=f"{plan.name(NODES)} = {wanted}, and there is no Ray cluster to join: neither {ADDRESS} nor a cluster that "
        f"`ray start` left here; ray.init() will start one with {each} of {wanted * each} GPUs; wanted one over all nodes",
        severity=Severity.WARNING,
        location=plan.place(NODES),
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="start Ray on every node before the trainer, as `skyrl-train launch` does",
            commands=("srun --ntasks-per-node=1 ray start … --block",),
        ),
    )


def _count(number: int) -> str:
    return f"{number} node{'' if number == 1 else 's'}"
