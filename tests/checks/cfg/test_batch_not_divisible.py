"""CFG002."""

from checks.cfg.batch_not_divisible import batch_not_divisible
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.verdicts import fault
from support import plan_of

BROKEN = "examples/verl/grpo_broken.sh"


def test_divides_samples_over_all_devices() -> None:
    for batch, n, gpus, told in ((3, 3, 2, 1), (4, 3, 2, 0), (1, 2, 1, 0), (5, 2, 4, 1), (1, 1, 0, 0)):
        made = plan_of(data__train_batch_size=batch, rollout__n=n, slurm__gpus_per_node=gpus)
        assert len(list(batch_not_divisible(made))) == told


def test_reproduces_two_faults_at_their_lines() -> None:
    assert found("CFG002", example(BROKEN)) == [
        fault(
            "9 samples (3 prompts x 3 trajectories) do not divide over 2 GPUs",
            Location(BROKEN, 7, "data.train_batch_size"),
            {"data.train_batch_size": "4"},
        ),
        fault(
            "a mini batch of 4 prompts is larger than the train batch of 3; wanted at most 3",
            Location(BROKEN, 11, "actor_rollout_ref.actor.ppo_mini_batch_size"),
            {"actor_rollout_ref.actor.ppo_mini_batch_size": "3"},
        ),
    ]


def test_prime_rl_counts_in_rollouts() -> None:
    made = plan("[orchestrator]\nbatch_size = 9\ngroup_size = 2\n")
    assert found("CFG002", made) == [
        fault(
            "a batch of 9 rollouts does not hold whole groups of 2; wanted a multiple of 2",
            Location("run.toml", 2, "orchestrator.batch_size"),
            {"orchestrator.batch_size": "10"},
        )
    ]


def test_verl_does_not_ask_where_batches_are_dynamic() -> None:
    made = plan(
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.use_dynamic_bsz=True data.train_batch_size=3\n",
        "run.sh",
    )
    assert verdict("CFG002", made) == (
        Status.SKIP,
        "actor_rollout_ref.actor.use_dynamic_bsz is on: micro batches are filled by tokens",
    )


def test_silent_on_the_clean_configuration() -> None:
    assert found("CFG002", example(MIG20)) == []
