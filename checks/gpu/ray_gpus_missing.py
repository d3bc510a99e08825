"""Ray will have fewer GPUs than the run needs, because nodes are missing.

## What it does
Compares the nodes of the plan with those that Slurm gave to this job, and `ray_init.num_gpus` with the plan's GPUs
per node. If the plan uses several nodes and is not launched by `skyrl-train`, it also looks for the Ray cluster that
must run before the trainer starts. GPU002 checks the GPUs of each node.

## Why it breaks training
`ray.init()` without a cluster to join starts one with this node only. verl then ends at once or waits forever for
more GPUs. It waits as well where Ray counts too few CPUs: verl requests three with each GPU. Unused nodes are
charged until the job ends, and the job's exit status is 0.

## How to fix
Request as many nodes as the plan uses, and start one Ray cluster over all of them first. `skyrl-train launch` does
both: it waits until every node and every GPU has joined, and names those that have not. It also lets Ray count as
many CPUs as verl requests.

## Example
    ValueError: Total available GPUs 8.0 is less than total desired GPUs 16
"""

from collections.abc import Iterator

from checks.vocabulary import FEW, NOT_ENOUGH
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.job import node_count
from skyrl_doctor.facts.ray_clusters import RayClusters
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.ray import ADDRESS, starts_own_cluster

CAUSE = "Ray has fewer free GPUs than the run needs"
COUNT = "`ray status` prints the nodes and GPUs that Ray has."
REMEDY = f"{COUNT} A node is missing: start `ray start --address=HEAD:6379` there before the trainer. A GPU of a node is missing: compare `nvidia-smi -L` and CUDA_VISIBLE_DEVICES there. All are there: another job or an older run holds them (`ray stop`)."

SIGNATURES = (
    Signature(
        pattern=r"Attempting to start raylet with \d{1,4} GPUs, but CUDA_VISIBLE_DEVICES contains|Current node has no GPU available|don't have enough GPUs available in a current node|cannot start without GPU",
        sample="ValueError: Current node has no GPU available. current_node_resource={'CPU': 16.0}. vLLM engine cannot start without GPU. Make sure you have at least 1 GPU available in a node.",
        explain=CAUSE,
        remedy=REMEDY,
        versions="vllm",
    ),
    Signature(
        pattern=r"number of required (?:GPUs|\w+s) exceeds the total number of available",
        sample="ValueError: The number of required GPUs exceeds the total number of available GPUs in the placement group.",
        explain="Ray has fewer GPUs in all than the engine wants (its tensor parallel size times its pipeline parallel size)",
        remedy="Set the tensor parallel size to at most the GPUs that `nvidia-smi -L` lists, and see that CUDA_VISIBLE_DEVICES hides none and that `torch.cuda.is_available()` is true. Should the GPUs of several nodes count: `ray status` prints those that Ray has; start it on each node before, and set RAY_ADDRESS, else Ray starts a cluster of this machine alone.",
        versions="vllm",
    ),
    Signature(
        pattern=r"No available node types can fulfill resource requests? .{0,60}'CPU': (?P<cpus>[2-9]|[1-9]\d{1,4})(?:\.0)?, 'GPU': ",
        sample="(autoscaler +37s) Error: No available node types can fulfill resource request defaultdict(<class 'float'>, {'CPU': 3.0, 'GPU': 1.0}). Add suitable node types to this cluster to resolve this issue.",
        explain="no node of Ray has {cpus} free CPUs and a free GPU",
        remedy=f"verl requests 3 CPUs of Ray with each GPU, and 9 for its queue. If `ray status` lists free GPUs, let Ray count more CPUs, which reserves none: `ray start --num-cpus=N`, or `ray_kwargs.ray_init.num_cpus=N` where the run starts Ray. If not: {REMEDY}",
        versions="ray, verl",
    ),
    Signature(
        pattern=r"No available node types can fulfill resource requests? .{0,120}(?:GPU|accelerator)|[Cc]annot provide a placement group of",
        sample="(autoscaler +1m5s) Error: No available node types can fulfill resource request {'CPU': 1.0, 'GPU': 1.0}. Add suitable node types to this cluster to resolve this issue.",
        explain=CAUSE,
        remedy=REMEDY,
        versions="ray, vllm",
    ),
    Signature(
        pattern=r"cannot be satisfied in this ray cluster|Failed to create placement group with \d+|[Pp]lacement group creation timed out|\bResourceInsufficientError: ",
        sample="ValueError: Resource pool global_pool: 8*2 cannot be satisfied in this ray cluster",
        explain=CAUSE,
        remedy=REMEDY,
        versions="verl, SkyRL",
    ),
    Signature(
        pattern=r"worker group startup timed out after \d",
        sample="The worker group startup timed out after 60.0 seconds waiting for 8 workers.",
        explain=CAUSE,
        remedy=REMEDY,
        versions="ray >= 2.43",
        fatal=False,
    ),
    Signature(
        pattern=r"Total available GPUs (?P<found>[1-9]\d*)(?:\.\d+)? is less than total desired GPUs (?P<desired>\d+)",
        sample="ValueError: Total available GPUs 8.0 is less than total desired GPUs 16",
        explain="Ray has {found} GPUs, and the run needs {desired}",
        remedy=f"{REMEDY} Or use fewer: `{{key:slurm.gpus_per_node}}` times `{{key:slurm.nodes}}` must be at most {{found}}.",
        keys=("slurm.gpus_per_node", "slurm.nodes"),
        versions="verl",
    ),
    Signature(
        pattern=r"(?:[Nn]ot enough|[Ii]nsufficient) (?:GPUs?\b|(?:GPU |cluster )?resources to (?:allocate|launch|create|place|schedule)\b)|\b[Yy]ou requested (?:gpu|GPUs?: \[)|\b[Rr]equest(?:ed|s) \d{1,5} (?:physical )?GPUs?\b.{0,60}\bonly \d|exceeds (?:the )?(?:number of )?available GPUs",
        sample="ValueError: Not enough resources to allocate 4 placement groups, only created 2 placement groups.",
        explain=CAUSE,
        remedy=REMEDY,
        versions="vllm, ray, lightning",
        unless="deployment settings|GPU memory",
    ),
    Signature(
        pattern=r"[Cc]annot provide a placement group",
        sample="ValueError: Cannot provide a placement group requiring 4.0 GPUs (placement_group_specs=[{'GPU': 1.0}]) within 1800 seconds.",
        explain=CAUSE,
        remedy=REMEDY,
        versions="vllm >= 0.17",
    ),
    Signature(
        pattern=r"Waiting for creating a placement group of specs for \d{3,9} seconds|resource request cannot be scheduled right now: .{0,80}GPU",
        sample="Waiting for creating a placement group of specs for 150 seconds. specs=[{'GPU': 1.0}, {'GPU': 1.0}]. Check `ray status` to see if you have enough resources",
        explain=CAUSE,
        remedy=REMEDY,
        versions="vllm, ray",
        at_least=2,
        fatal=False,
    ),
    Signature(
        pattern=r"\{[^{}\n]{0,120}'GPU(?:_group\w{0,80})?': \d[^{}\n]{0,200}\}(?: \* \d{1,6} \(\w{1,20}\))?: {1,3}\d{1,6}\+? pending (?:placement groups|tasks/actors)",
        near=r"\bDemands:",
        within=30,
        unless_above=r"\b(?:[1-9]\d{0,5}(?:\.\d{1,16})?|0\.\d{0,16}[1-9]\d{0,16})/\d[\d.]{0,12} GPU\b",
        sample=" {'GPU': 1.0, 'CPU': 1.0} * 1 (PACK): 2+ pending placement groups",
        explain="work that asks for a GPU waits, and the Ray cluster has none, or fewer than one piece of work asks for",
        remedy=REMEDY,
        versions="ray",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bIt requires \{[^\n]{0,80}\bGPU\b[^\n]{0,400}\b(?:only has remaining|cannot provide|no nodes in the cluster that can provide)\b",
        sample="The actor or task with ID ff01 cannot be scheduled right now. It requires {GPU: 1.000000}, {CPU: 1.000000} for placement, but this node only has remaining {CPU: 8.000000}.",
        explain=CAUSE,
        remedy=REMEDY,
        versions="ray 1",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bThe (?:task|actor) is not schedulable: |\bspecified via NodeAffinitySchedulingStrategy doesn't exist any more or is infeasible\b",
        sample="ray.exceptions.TaskUnschedulableError: The task is not schedulable: The node specified via NodeAffinitySchedulingStrategy doesn't exist any more or is infeasible, and soft=False was specified.",
        explain="Ray has no such node any more, or the node has less than the task asks for",
        remedy=REMEDY,
        versions="ray",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i){FEW} GPUs?\b.{{0,80}}(?:need|requir|request|want|ask)|(?:need|requir|request|want|ask)\w* .{{0,20}}\d+ GPUs?\b.{{0,80}}{FEW}|\bray\b.{{0,60}}{NOT_ENOUGH} GPUs",
    sample="RuntimeError: only 4 GPUs in the Ray cluster, but 8 are needed",
    explain=CAUSE,
    remedy=REMEDY,
    versions="any",
    unless="deployment settings",
)

NODES, PER_NODE = "slurm.nodes", "slurm.gpus_per_node"
NUM_GPUS = ("ray_kwargs.ray_init.num_gpus", "ray_init.num_gpus")


@check("GPU004", roles=[Role.GPU], fix="skyrl_train/rl/ray_ready.py")
def ray_gpus_missing(plan: Plan, environ: Environ, clusters: RayClusters) -> Iterator[Finding]:
    nodes, each = required(plan).integer(NODES), plan.integer(PER_NODE)
    if each is None or each < 1:
        raise NotApplicable(f"the plan sets no number of GPUs per node ({PER_NODE})")
    expected = nodes if nodes is not None and nodes > 0 else 1
    given = node_count(environ)
    if given is not None and given != expected:
        yield _nodes(plan, given, expected, each)
    yield from _limited(plan, each)
    if expected > 1 and not plan.is_of("run-config") and not _joins(environ, clusters):
        yield _alone(plan, expected, each)


def _nodes(plan: Plan, given: int, expected: int, each: int) -> Finding:
    seen = f"{plan.name(NODES)} = {expected}, but this job has {_count(given)}"
    if given < expected:
        message, severity = f"{seen}: Ray will have {given * each} of {expected * each} GPUs", Severity.ERROR
    else:
        message, severity = f"{seen}; {given - expected} would stay idle until the job ends", Severity.WARNING
    return config_finding(
        f"{message}; expected {_count(expected)}",
        plan.place(NODES),
        plan.settings({NODES: str(given)}),
        summary=f"submit with --nodes={expected}, or plan for {_count(given)}",
        severity=severity,
    )


def _limited(plan: Plan, each: int) -> Iterator[Finding]:
    for key in NUM_GPUS:
        found = plan.own.get(key)
        value = found.value if found is not None and not found.unknown else None
        if found is not None and isinstance(value, int | float) and not isinstance(value, bool) and value < each:
            yield config_finding(
                f"{found.assignment}, but {plan.name(PER_NODE)} = {each}, so Ray will not count all GPUs; expected {each}, or no such key",
                found.location,
                {found.name: str(each)},
            )


def _joins(environ: Environ, clusters: RayClusters) -> bool:
    if starts_own_cluster(environ):
        return False
    return bool(environ.get(ADDRESS)) or clusters.file is not None


def _alone(plan: Plan, expected: int, each: int) -> Finding:
    return Finding(
        message=f"{plan.name(NODES)} = {expected}, but no Ray cluster exists to join (neither {ADDRESS} nor one that `ray start` left), so ray.init() starts one with {each} of {expected * each} GPUs; expected a cluster over all nodes",
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
