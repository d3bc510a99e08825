"""The logs of today's frameworks, from their lines to the findings."""

from collections.abc import Callable

import pytest

from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.follow.tail import Lines
from skyrl_doctor.watch.read.logs import Logs
from skyrl_doctor.watch.rules import all as rules


def verl(step: int) -> str:
    return f"(TaskRunner pid=81) step:{step} - actor/pg_loss:0.1 - actor/grad_norm:nan - critic/score/mean:0.{step} - x:1\n"


def prime_rl_2025(step: int) -> str:
    return (
        f"09:14:11 SUCCESS Step {step} | Time: 22.84s | Loss: 0.0010 | Entropy: 0.3 | Mismatch KL: 0.0010 | "
        "Grad. Norm: nan | LR: 1.00e-06\n"
    )


def prime_rl(step: int) -> str:
    """The orchestrator is one step ahead of the trainer, in the same log."""
    return (
        f"09:14:10 SUCCESS Step {step + 1} |  20.10s | Reward 0.{step} | Trainable 60/64 (93.8%) | Turns 3.0 | "
        "Branches 1.0 | Max Off-Policy 1 | Error 0.0% | Cancelled 0.0% | Truncation 1.0%\n"
        f"09:14:11 SUCCESS Step {step} |  22.84s | Loss 0.0010 | Entropy 0.3000 | Mismatch KL 0.0010 | Grad. Norm nan | "
        "LR 1.00e-06 | Throughput 950 tokens/s | MFU 12.5% | Peak Mem. 61.5 GiB\n"
    )


def skyrl(step: int) -> str:
    return (
        f"2026-10-05 10:00:00.1 | INFO     | skyrl.train.trainer:train:497 - {{'final_loss': 0.1, 'grad_norm': nan}}\n"
        f"2026-10-05 10:00:00.2 | INFO     | skyrl.train.utils.tracking:log:225 - Step {step}: \n"
        f"{{'policy/final_loss': '0.1000',\n 'policy/grad_norm': 'nan',\n 'reward/avg_raw_reward': '0.{step}'}}\n"
    )


def skyrl_with_wandb(step: int) -> str:
    return (
        "2026-10-05 10:00:00.1 | INFO     | skyrl.train.trainer:train:497 - {'final_loss': 0.1, 'policy_loss': 0.1, "
        f"'grad_norm': nan}}\nTraining Batches Processed: {step}%|#  | {step}/100 [01:00<10:00, 15.0s/it]\r"
    )


def findings(line: Callable[[int], str]) -> list[tuple[int, str]]:
    """The step after which each finding was reported."""
    logs, states, number, found = Logs(), rules.start(), 1, []
    for step in range(1, 13):
        text = line(step).encode()
        for seen in logs.take(Lines("train.log", number, text), 30.0 * step):
            states, updates = rules.judge(states, seen)
            found += [(step, one.key) for one in updates if isinstance(one, Alert)]
        number += text.count(b"\n")
    return found


@pytest.mark.parametrize("line", [verl, prime_rl_2025, prime_rl, skyrl, skyrl_with_wandb])
def test_a_gradient_that_is_not_a_number_is_found_within_two_steps(line: Callable[[int], str]) -> None:
    assert findings(line) == [(2, "TRN005.metrics")]


@pytest.mark.parametrize("line", [verl, prime_rl_2025, prime_rl, skyrl, skyrl_with_wandb])
def test_the_same_steps_with_a_good_gradient_are_healthy(line: Callable[[int], str]) -> None:
    assert findings(lambda step: line(step).replace("nan", "0.5")) == []
