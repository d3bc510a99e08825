"""verl's own Hydra takes our words for every kind of configuration, and refuses what it would refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_train.checkpoints.resume import Resume
from skyrl_train.config.load import parse
from skyrl_train.rl.overrides import Place, overrides

pytestmark = [pytest.mark.verl, pytest.mark.vllm]

COMPOSE = """
import json, sys
from skyrl_train.contracts.errors import UsageError
from skyrl_train.rl.settings import composed
for line in sys.stdin:
    try:
        made = composed(json.loads(line))
        print(json.dumps([made.algorithm.adv_estimator, made.critic.enable, made.data.train_batch_size,
                          made.actor_rollout_ref.rollout.val_kwargs.n]))
    except UsageError as error:
        print(json.dumps([str(error)]))
"""
DATA = (Path(__file__).parents[3] / "examples" / "mig20.toml").read_text()
NAME = "Qwen/Qwen2.5-Coder-0.5B-Instruct"
PPO = DATA + 'validate_samples = 2\nverl_overrides = ["data.train_batch_size=3"]\n[algorithm]\nadvantage = "gae"\n'
LORA = DATA.replace("[data]", "lora_rank = 8\n[data]").replace("n = 2\n", 'n = 2\nload_format = "safetensors"\n')
WRONG = DATA + 'verl_overrides = ["data.no_such_key=3"]\n'
START = Resume(None, 0, ()).overrides


def test_every_kind_of_configuration_composes(tmp_path: Path, model: Path) -> None:
    place = Place(str(tmp_path), str(tmp_path))
    lines = [
        json.dumps(overrides(parse(toml.replace(NAME, str(model))), place, START)) for toml in (DATA, PPO, LORA, WRONG)
    ]

    done = subprocess.run(
        [sys.executable, "-c", COMPOSE],
        input="\n".join(lines),
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers = [
        json.loads(line)
        for line in done.stdout.splitlines()
        if line.startswith("[") and line.endswith("]") and '"' in line
    ]
    assert answers[:3] == [["grpo", False, 1, 1], ["gae", True, 3, 2], ["grpo", False, 1, 1]]
    assert "no_such_key" in answers[3][0]
