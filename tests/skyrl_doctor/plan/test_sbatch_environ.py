"""The variables of a job that its own #SBATCH lines give."""

import pytest

from plans import found, plan
from skyrl_doctor.plan.sbatch_environ import sbatch_environ

TWO = {"SLURM_NNODES": "2", "SLURM_JOB_NUM_NODES": "2"}
TASKS = {"SLURM_NTASKS": "4", "SLURM_NPROCS": "4"}
R = "actor_rollout_ref.rollout"


@pytest.mark.parametrize(
    ("lines", "variables"),
    [
        ("--nodes=2", TWO),
        ("-N 2  # two", TWO),
        ("-N2", TWO),
        ("--nodes=4\n#SBATCH --nodes=2", TWO),
        ("--nodes=2-4", {}),
        ("--nodes=4\n#SBATCH --nodes=2-4", {}),
        ("--nodes=2\n#SBATCH hetjob\n#SBATCH --nodes=1", {}),
        ("--job-name=x\ncd /work\n#SBATCH --nodes=2", {}),
        ("--nodes=2\n#SBATCH --ntasks-per-node=2", {**TWO, "SLURM_NTASKS_PER_NODE": "2", **TASKS}),
        ("--ntasks=4", TASKS),
        ("--nodes=2 -n4", {**TWO, **TASKS}),
        ("--gpus-per-node=8", {"SLURM_GPUS_PER_NODE": "8", "SLURM_GPUS_ON_NODE": "8"}),
        ("--gpus-per-node=h100:8", {}),
        ("--gres=gpu:8", {"SLURM_GPUS_ON_NODE": "8"}),
        ("--gres=gpu:h100:8", {}),
        ("--cpus-per-task=16", {"SLURM_CPUS_PER_TASK": "16"}),
    ],
)
def test_one_plain_number_gives_its_variables(lines: str, variables: dict[str, str]) -> None:
    assert sbatch_environ(f"#!/bin/bash\n#SBATCH {lines}\n\nmake run\n") == variables


@pytest.mark.parametrize(("tensor", "count"), [(3, 1), (2, 0)])
def test_a_script_counts_the_gpus_of_its_own_job(tensor: int, count: int) -> None:
    made = plan(
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
        f"python3 -m verl.trainer.main_ppo {R}.name=vllm {R}.tensor_model_parallel_size={tensor}"
        " trainer.nnodes=$SLURM_NNODES trainer.n_gpus_per_node=$SLURM_GPUS_PER_NODE",
        "run.sbatch",
    )
    assert len(found("CFG008", made)) == count
    assert made.own["trainer.nnodes"].value == 2
