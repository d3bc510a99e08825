"""Loops over literal words and job arrays: each iteration is judged, and a finding is there once."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.plan.sbatch_environ import array_tasks, sbatch_environ

RUN = (
    "python3 -m verl.trainer.main_ppo data.train_batch_size=128 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 "
    "actor_rollout_ref.rollout.name=vllm algorithm.adv_estimator=grpo trainer.n_gpus_per_node=8 "
)
MINI = "actor_rollout_ref.actor.ppo_mini_batch_size"
SKYRL = (
    "uv run -m skyrl.train.entrypoints.main_base trainer.algorithm.advantage_estimator=grpo "
    "trainer.train_batch_size=512 trainer.policy_mini_batch_size="
)


def messages(text: str, folder: Path, capsys: pytest.CaptureFixture[str], check: str = "CFG002") -> list[str]:
    script = folder / "run.sh"
    script.write_text(text, encoding="utf-8")
    dispatch(["preflight", str(script), "--structure-only", "--select", f"{check},CFG004", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    return [finding["message"] for outcome in report["outcomes"] for finding in outcome["findings"]]


@pytest.mark.parametrize(
    "text",
    [
        f"for mini in 64 256 128 32; do\n{RUN}{MINI}=$mini\ndone\n",
        f"for mini in 256 64 128 32; do\n{RUN}{MINI}=$mini\ndone\n",
        f"one() {{\n{RUN}{MINI}=$1\n}}\none 64\none 256\none 128\none 32\n",
        f"#!/bin/bash\n#SBATCH --array=0-3\nMINIS=(64 256 128 32)\n{RUN}{MINI}=${{MINIS[$SLURM_ARRAY_TASK_ID]}}\n",
        f"for mini in 64 256 128 32; do\nsbatch <<EOF\n#!/bin/bash\n{RUN}{MINI}=$mini\nEOF\ndone\n",
    ],
)
def test_a_fault_of_one_iteration_is_found(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert messages(text, tmp_path, capsys) == [
        "a mini batch of 256 prompts is larger than the train batch of 128 (in 1 of 4 iterations)"
    ]


def test_a_fault_of_every_iteration_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"for seed in 1 2 3; do\n{RUN}{MINI}=256 data.seed=$seed\ndone\n"
    assert messages(text, tmp_path, capsys) == ["a mini batch of 256 prompts is larger than the train batch of 128"]


def test_the_iterations_of_skyrl_are_judged_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"for mini in 100 256; do\n{SKYRL}$mini\ndone\n"
    assert messages(text, tmp_path, capsys) == [
        "trainer.train_batch_size (512) must be a multiple of trainer.policy_mini_batch_size (100); set trainer.policy_mini_batch_size = 128 (in 1 of 2 iterations)"
    ]


def test_calls_of_other_lines_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{RUN}{MINI}=64\nfor mini in 64 32; do\n{RUN}{MINI}=$mini\ndone\n"
    assert messages(text, tmp_path, capsys) == ["2 calls of main_ppo found; only the last one is checked, not line 1"]


@pytest.mark.parametrize(
    ("option", "tasks"),
    [
        ("--array=0-3", ("0", "1", "2", "3")),
        ("--array=2,5-9:2%1", ("2", "5", "7", "9")),
        ("-a 7", ("7",)),
        ("--array=1-100000000", tuple(map(str, range(1, 17)))),
        ("--array=$N", ()),
    ],
)
def test_the_tasks_of_an_array(option: str, tasks: tuple[str, ...]) -> None:
    text = f"#!/bin/bash\n#SBATCH {option}\ntrue\n"
    assert array_tasks(text) == tasks
    assert sbatch_environ(text) == ({"SLURM_ARRAY_TASK_ID": tasks[0]} if tasks else {})
