"""Trainers of verl in the words of a command."""

import pytest

from skyrl_doctor.plan.dialects.verl.entry_points import EntryPoint, entry_point

FOUND = {
    "python3 -m verl.trainer.main_ppo a=1": EntryPoint("verl.trainer.main_ppo", 2),
    "torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer": EntryPoint("verl.trainer.fsdp_sft_trainer", 3),
    "torchrun -m verl.trainer.sft_trainer_ray": EntryPoint("verl.trainer.sft_trainer_ray", 2),
    "ray job submit -- python -m recipe.dapo.main_dapo": EntryPoint("recipe.dapo.main_dapo", 6),
    "python -m verl.experimental.fully_async_policy.fully_async_main": EntryPoint(
        "verl.experimental.fully_async_policy.fully_async_main", 2
    ),
    "python /src/verl/trainer/main_ppo.py": EntryPoint("verl.trainer.main_ppo", 1, "/src/verl/trainer/main_ppo.py"),
    "python ../../verl/trainer/main_generation.py": EntryPoint(
        "verl.trainer.main_generation", 1, "../../verl/trainer/main_generation.py"
    ),
    "python main_ppo.py": EntryPoint("main_ppo", 1, "main_ppo.py"),
    "python -m rep.main_rep +actor_rollout_ref.model.path=x actor_rollout_ref.rollout.n=2": EntryPoint(
        "rep.main_rep", 2
    ),
    "torchrun -m torch.distributed.run my/main.py actor_rollout_ref.a=1 actor_rollout_ref.b=2": EntryPoint(
        "my.main", 3, "my/main.py"
    ),
    "python t/main_trainer.py actor_rollout_ref.model.path=x critic.model.path=x": EntryPoint(
        "t.main_trainer", 1, "t/main_trainer.py"
    ),
    "python -m their.verl_main_ppo": EntryPoint("their.verl_main_ppo", 2),
}
OTHERS = (
    "",
    "echo python -m verl.trainer.main_ppo",
    "python -m verl.model_merger merge",
    "python -m verl.utils.main_thing.helper",
    "python -m skyrl.train.entrypoints.main_base",
    "python -m examples.train.algorithms.dapo.main_dapo",
    "python examples/data_preprocess/gsm8k.py",
    "python x=verl/trainer/main_ppo.py",
    "python patch.py --main /verl/verl/experimental/fully_async_policy/fully_async_main.py",
    "python t/main_trainer.py critic.model.path=x algorithm.adv_estimator=grpo",
    "verl.trainer.main_ppo",
    "python -m rep.main_rep actor_rollout_ref.rollout.n=2",
    "python train.py actor_rollout_ref.rollout.n=2 actor_rollout_ref.model.path=x",
)


@pytest.mark.parametrize("command", FOUND)
def test_a_trainer(command: str) -> None:
    assert entry_point(command.split()) == FOUND[command]


@pytest.mark.parametrize("command", OTHERS)
def test_no_trainer(command: str) -> None:
    assert entry_point(command.split()) is None
