"""SLM005."""

import pytest

from plans import example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

RUN = "python3 -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8"


def script(*options: str, run: str = RUN) -> Plan:
    return plan("#!/bin/bash\n" + "".join(f"#SBATCH {option}\n" for option in options) + run + "\n", "run.sh")


@pytest.mark.parametrize(
    ("options", "message", "key", "expected"),
    [
        (("--nodes=1", "--gres=gpu:8"), "the job asks for 1 node, but the run uses 2 (trainer.nnodes)", "--nodes", "2"),
        (
            ("-N 2", "--gres=gpu:h100:4"),
            "the job asks for 8 GPUs, but the run uses 16 (trainer.n_gpus_per_node)",
            "--gres",
            "8",
        ),
        (
            ("-N 2", "--gpus-per-node=4"),
            "the job asks for 8 GPUs, but the run uses 16 (trainer.n_gpus_per_node)",
            "--gpus-per-node",
            "8",
        ),
        (
            ("-N 2", "--gpus=8"),
            "the job asks for 8 GPUs, but the run uses 16 (trainer.n_gpus_per_node)",
            "--gpus",
            "16",
        ),
    ],
)
def test_the_job_has_too_little(options: tuple[str, ...], message: str, key: str, expected: str) -> None:
    own = f"#SBATCH {key}"
    line = next(number for number, option in enumerate(options, 2) if option.startswith(key))
    assert found("SLM005", script(*options)) == [
        config_finding(f"{message}; expected {expected} in {own}", Location("run.sh", line, own), {own: expected})
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("--nodes=2", "--gres=gpu:8"),
        ("--nodes=4", "--gres=gpu:8"),
        ("-N 2", "--gpus=16"),
        ("--time=1:00:00",),
        ("--nodes=2",),
    ],
)
def test_enough_or_not_named(options: tuple[str, ...]) -> None:
    assert found("SLM005", script(*options, run=f"{RUN} trainer.save_freq=5")) == []


def test_a_time_limit_without_checkpoints() -> None:
    made = script("--time=1:00:00", run=f"{RUN} trainer.save_freq=-1")
    assert found("SLM005", made) == [
        config_finding(
            "the job ends after 1:00:00, and trainer.save_freq = -1 saves no checkpoint: at the limit everything is lost",
            Location("run.sh", 3, "trainer.save_freq"),
            severity=Severity.INFO,
            summary="save checkpoints",
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("SLM005", example("examples/verl/grpo_mig20.sh")) == []
    assert verdict("SLM005", example("examples/mig20.toml")) == (Status.SKIP, "no #SBATCH lines")
