"""Settings that stand alone behind the command that should have had them."""

import pytest

from plans import plan
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.load import load

ARRAYS = "ACTOR=(\n  actor_rollout_ref.actor.use_kl_loss=True\n  actor_rollout_ref.model.path=m\n)\n"
VERL = "python3 -m verl.trainer.main_ppo trainer.nnodes=1"
SKYRL = "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen3-8B"
PRIME = "uv run rl @ rl.toml"
TOML = "[model]\nname = 'Qwen/Qwen3-8B'\n"


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        (f'{ARRAYS}{VERL}\n  "${{ACTOR[@]}}"\n', "actor_rollout_ref.actor.use_kl_loss", 6),
        (f'{ARRAYS}{VERL}\n  "${{ACTOR[@]}}" \\\n  trainer.nnodes=2\n', "actor_rollout_ref.actor.use_kl_loss", 6),
        (f"{ARRAYS}{VERL}\n  ${{ACTOR[*]}}\n", "actor_rollout_ref.actor.use_kl_loss", 6),
        (f"LR='trainer.total_epochs=2'\n{VERL}\n$LR\n", "trainer.total_epochs", 3),
        (f"{SKYRL}\n  trainer.policy.optimizer_config.lr=1e-6 \\\n  trainer.placement.colocate_all=true\n", "trainer.policy.optimizer_config.lr", 2),
        (f"{SKYRL} \\ \n  trainer.epochs=2\n", "trainer.epochs", 2),
        (f"{PRIME}\n  --max-steps 20\n", "max-steps", 2),
        (f"{PRIME}\n  --model.name x --max-steps 20\n", "model.name", 2),
    ],
)  # fmt: skip
def test_settings_on_a_line_of_their_own_are_lost(text: str, key: str, line: int) -> None:
    answers = {"environ": {"HOME": "/home/ada"}, "read run.sh": text, "read rl.toml": TOML}
    made = load(RecordedMachine(answers), ("run.sh",))
    lost = [problem.location for problem in made.problems if "does not get" in problem.message]
    assert lost == [Location("run.sh", line, key)]


@pytest.mark.parametrize(
    "after",
    [
        "X=1\n",
        "export A.b=1 X=1\n",
        "echo trainer.epochs=2\n",
        "./eval.py --model x\n",
        "wait\n",
        'printf "%s" --max-steps\n',
    ],
)
@pytest.mark.parametrize("run", [VERL, SKYRL])
def test_other_commands_are_not(run: str, after: str) -> None:
    made = plan(f"trainer.epochs=1\n{run}\n{after}", "run.sh")  # what comes before a command is not its own
    assert [problem.message for problem in made.problems if "does not get" in problem.message] == []
