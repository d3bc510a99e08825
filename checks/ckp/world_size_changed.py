"""The checkpoint was saved by another number of GPUs than this run has.

## What it does
Compares the number of ranks in the names of the shards that a resume takes with the GPUs of the plan.

## Why it breaks training
Each rank loads the shard of its own number, and verl's FSDP checkpoints are not shared out anew: the run loads the model
for minutes and dies of a file that never was.

## How to fix
Run on as many GPUs as saved it; or make a model of it (`skyrl-train checkpoints merge`) and start from that. The state of
the optimiser is lost then.

## Example
    FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/global_step_20/actor/model_world_size_2_rank_0.pt'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.checkpoints import AUTO, Checkpoints
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.verdicts import fault, required
from skyrl_train.checkpoints.resume import world_fault

SIGNATURES = (
    Signature(
        pattern=r"No such file or directory.{0,300}(?:model|optim|extra_state)_world_size_\d+_rank_\d+\.pt",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/global_step_20/actor/model_world_size_2_rank_0.pt'",
        explain="the checkpoint was written by another number of GPUs",
        versions="verl",
    ),
)

NODES, GPUS, RESUME, OWN = "slurm.nodes", "slurm.gpus_per_node", "trainer.resume", "run-config"


@check("CKP002", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/checkpoints/resume.py")
def world_size_changed(plan: Plan, there: Checkpoints) -> Iterator[Finding]:
    taken = there.taken(required(plan).text(RESUME) or AUTO, ours=plan.is_of(OWN))
    if taken is None or not taken.worlds:
        raise NotApplicable("there is no checkpoint that the run goes on from")
    nodes, gpus = plan.integer(NODES) or 1, plan.integer(GPUS) or 1
    wrong = world_fault(taken.worlds, nodes * gpus)
    if wrong is None:
        return
    (wanted, *more) = taken.worlds
    settings = {} if more or wanted % nodes else plan.settings({GPUS: str(wanted // nodes)})
    yield fault(
        f"{taken.path} {wrong}", plan.place(GPUS), settings, summary="run on the GPUs that saved it, or merge it"
    )
