"""CKP002."""

from checks.ckp.world_size_changed import world_size_changed
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Location, Outcome, Status
from skyrl_doctor.facts.checkpoints import Checkpoint, Checkpoints
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of

VERL = "python -m verl.trainer.main_ppo trainer.default_local_dir=/ckpt/run trainer.n_gpus_per_node={gpus}\n"


def test_as_many_gpus_as_saved_it() -> None:
    for worlds, nodes, gpus, told in (((2,), 1, 2, 0), ((2,), 2, 1, 0), ((2,), 1, 1, 1), ((1, 2), 1, 2, 1)):
        found = Checkpoint(step=1, path="/c/global_step_1", worlds=worlds)
        there = Checkpoints(root="/c", tracker="1", found=(found,), free=0)
        made = plan_of(slurm__nodes=nodes, slurm__gpus_per_node=gpus)
        assert len(list(world_size_changed(made, there))) == told


def test_reproduces_on_a_recording() -> None:
    file = "run.sh"
    outcome = judge("CKP002", "checkpoint_of_two_gpus", plan=plan(VERL.format(gpus=4), file))
    assert outcome == Outcome(
        id="CKP002",
        slug="world-size-changed",
        status=Status.FAIL,
        findings=(
            config_finding(
                "/ckpt/run/global_step_20 was saved by 2 GPUs, but this run has 4; the numbers must be equal",
                Location(file, 1, "trainer.n_gpus_per_node"),
                {"trainer.n_gpus_per_node": "2"},
                summary="use as many GPUs as saved it, or merge it",
            ),
        ),
    )
    assert judge("CKP002", "checkpoint_of_two_gpus", plan=plan(VERL.format(gpus=2), file)).status is Status.PASS


def test_silent_on_the_clean_machine() -> None:
    assert judge("CKP002", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
