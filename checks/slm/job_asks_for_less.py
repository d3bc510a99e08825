"""The `#SBATCH` lines ask for less than the run uses.

## What it does
Compares the nodes and GPUs of the script's `#SBATCH` lines with those that the command in the script uses. Notes a time
limit in a run that never saves a checkpoint.

## Why it breaks training
Ray waits for GPUs that the job does not have, or verl stops: "Total available GPUs is less than total desired GPUs".
At the time limit, a run without checkpoints loses everything.

## How to fix
Ask for as many nodes and GPUs as the run uses, or set the run's own numbers to those of the job.

## Example
    ValueError: Total available GPUs 4 is less than total desired GPUs 8
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.parallel import own_integer, own_value
from skyrl_train.config.job_size import gpus_of_job

PREFIX = "#SBATCH "
NODES, GPUS = "slurm.nodes", "slurm.gpus_per_node"
_PER_NODE = ("--gpus-per-node", "--gres")
_NODES = ("--nodes", "-N")


@check("SLM005", fix="skyrl_train/config/job_size.py")
def job_asks_for_less(plan: Plan) -> Iterator[Finding]:
    if not any(key.startswith(PREFIX) for key in required(plan).own):
        raise NotApplicable("no #SBATCH lines")
    nodes, gpus = plan.integer(NODES) or 1, plan.integer(GPUS)
    asked_nodes = _first(plan, _NODES)
    if asked_nodes is not None and asked_nodes[1] < nodes and not _is_sbatch(plan, NODES):
        option, count = asked_nodes
        yield _less(plan, option, f"{count} node{_s(count)}", f"{nodes} ({plan.name(NODES)})", str(nodes))
        return
    per_node, total = _first(plan, _PER_NODE), own_integer(plan, f"{PREFIX}--gpus")
    asked = gpus_of_job(nodes=nodes, per_node=per_node[1] if per_node else None, total=total)
    if gpus is not None and asked is not None and asked < nodes * gpus and not _is_sbatch(plan, GPUS):
        option, expected = (per_node[0], gpus) if per_node else ("--gpus", nodes * gpus)
        yield _less(plan, option, f"{asked} GPU{_s(asked)}", f"{nodes * gpus} ({plan.name(GPUS)})", str(expected))
    yield from _unsaved(plan)


def _first(plan: Plan, options: tuple[str, ...]) -> tuple[str, int] | None:
    found = ((option, own_integer(plan, f"{PREFIX}{option}")) for option in options)
    return next(((option, count) for option, count in found if count is not None), None)


def _is_sbatch(plan: Plan, key: str) -> bool:
    """Whether the number itself is that of the #SBATCH line."""
    return plan.values[key].own.startswith(PREFIX) if key in plan.values else True


def _less(plan: Plan, option: str, asked: str, used: str, expected: str) -> Finding:
    key = f"{PREFIX}{option}"
    message = f"the job asks for {asked}, but the run uses {used}; expected {expected} in {key}"
    return config_finding(message, plan.own[key].location, {key: expected})


def _unsaved(plan: Plan) -> Iterator[Finding]:
    limit = own_value(plan, f"{PREFIX}--time") or own_value(plan, f"{PREFIX}-t")
    every = plan.values.get("trainer.save_every_steps")
    if limit is None or every is None or every.unknown or not isinstance(every.value, int) or every.value > 0:
        return
    message = (
        f"the job ends after {limit.value}, and {every.assignment} saves no checkpoint: at the limit everything is lost"
    )
    yield config_finding(message, plan.place(every.key), severity=Severity.INFO, summary="save checkpoints")


def _s(count: int) -> str:
    return "" if count == 1 else "s"
