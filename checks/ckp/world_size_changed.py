"""The checkpoint was saved by a different number of GPUs.

## What it does
Compares the number of ranks in the shard names of the checkpoint to resume from with the GPUs of the plan.

## Why it breaks training
Each rank loads the shard of its own number, and verl does not redistribute FSDP checkpoints. The run loads the model
for minutes and then fails on a file that never existed.

## How to fix
Run on as many GPUs as saved it, or merge it into a model (`skyrl-train checkpoints merge`) and start from that. The
optimiser state is lost then.

## Example
    FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/global_step_20/actor/model_world_size_2_rank_0.pt'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.checkpoints import AUTO, Checkpoints
from skyrl_doctor.plan.answers import split_of_plan
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.checkpoints.rules import world_fault

CAUSE = "the checkpoint was written by a different number of GPUs"

KEYS = ("trainer.checkpoint_dir", "slurm.gpus_per_node", "slurm.nodes")

SIGNATURES = (
    Signature(
        pattern=r"No such file or directory.{0,300}(?:model|optim|extra_state)_world_size_\d+_rank_\d+\.pt",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/global_step_20/actor/model_world_size_2_rank_0.pt'",
        explain=CAUSE,
        versions="verl",
    ),
    Signature(
        pattern=r"IndexError: tuple index out of range",
        sample="IndexError: tuple index out of range",
        explain="the checkpoint holds the random states of more GPUs than this run has",
        versions="torch",
        near=r"set_rng_state_all",
        within=8,
    ),
    Signature(
        pattern=r"used a DP world size of \d+ but the current|(?:[Cc]heckpoint|\b[Ss]aved|\b[Rr]esum|state.?dict|\b[Oo]ptim)[^\n]{0,160}\b(?:[Ww]orld.?[Ss]ize|WORLD_SIZE)\b.{0,80}(?:mismatch|does not match|differs|but (?:the )?current)|\b(?:[Ww]orld.?[Ss]ize|WORLD_SIZE)\b.{0,80}(?:mismatch|does not match|differs|but (?:the )?current)[^\n]{0,120}(?:checkpoint|\bsaved|\bresum|state.?dict|\boptim)|(?:rank|world size) at save time was \d+|mismatch after resume \(|[Cc]heckpoint.{0,80}(?:saved|written|sharded) (?:with|for|by) \d+ (?:ranks?|GPUs?|workers)",
        sample="ValueError: The checkpoint being loaded used a DP world size of 8 but the current world size is 4. Automatic adjustment of ZeRO's optimizer state partitioning with a new world size is not currently supported.",
        explain=CAUSE,
        versions="deepspeed",
    ),
    Signature(
        pattern=r"world_size_\d+_rank_\d+\.pt\S{0,3} (?:not found|does not exist|is missing)",
        sample="AssertionError: /ckpt/global_step_20/actor/optim_world_size_4_rank_3.pt does not exist",
        explain=CAUSE,
        versions="verl",
    ),
    Signature(
        pattern=r"The size of tensor a \(\d{5,12}\) must match the size of tensor b \(\d{5,12}\)",
        sample="RuntimeError: The size of tensor a (56124554) must match the size of tensor b (14031139) at non-singleton dimension 0",
        explain="the optimizer state was saved by a different number of GPUs",
        versions="torch",
        near=r"torch/optim/|\bexp_avg",
        within=12,
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:checkpoint|optimizer state)\b.{0,100}\b(?:world.?size|number of (?:gpus|ranks|processes)|(?:gpus|ranks)\b)|\bworld.?size\b.{0,100}\bcheckpoint\b",
    sample="ValueError: the checkpoint was made by 4 ranks and this run has 2",
    explain=CAUSE,
    versions="any",
    unless="(?i:memory)",
)

NODES, GPUS, RESUME, OWN = "slurm.nodes", "slurm.gpus_per_node", "trainer.resume", "run-config"


@check("CKP002", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/checkpoints/resume.py")
def world_size_changed(plan: Plan, there: Checkpoints) -> Iterator[Finding]:
    taken = there.taken(required(plan).text(RESUME) or AUTO, ours=plan.is_of(OWN))
    if taken is None or not taken.worlds:
        raise NotApplicable("no checkpoint exists to resume from")
    nodes, gpus = plan.integer(NODES) or 1, plan.integer(GPUS) or 1
    parts = split_of_plan(plan)
    wrong = world_fault(taken.worlds, nodes * gpus if parts is None else parts.trainer_devices)
    if wrong is None:
        return
    (expected, *more) = taken.worlds
    settings = {} if more or parts is not None or expected % nodes else plan.settings({GPUS: str(expected // nodes)})
    yield config_finding(
        f"{taken.path} {wrong}", plan.place(GPUS), settings, summary="use as many GPUs as saved it, or merge it"
    )
