"""The files for whole nodes: each fits its GPUs and its host by the budget, and says why of every value."""

import json
from pathlib import Path

import pytest

from plans import ROOT
from skyrl_doctor.cli.app import dispatch
from skyrl_train.config.load import read
from skyrl_train.config.slots import worker_slots

FILES = sorted((ROOT / "examples" / "production").glob("*.toml"))
GPUS = {"a100": "A100-80GB", "h100": "H100"}
HOST_FACTOR = 1.5
"""Host memory beyond the budget's: loaders, Ray's object store, checkpoints that are being written."""
OBVIOUS = {
    "gpu_partition",
    "cpu_partition",
    "project",
    "experiment",
    "steps",
    "path",
    "gpus_per_node",
    "gpu_type",
    "advantage",
}
"""Settings that name something or say what the header says."""


def test_three_sizes_on_both_kinds_of_nodes_one_and_several() -> None:
    assert [path.name for path in FILES] == [
        "14b_a100_2_nodes.toml",
        "14b_h100_1_node.toml",
        "32b_a100_4_nodes.toml",
        "32b_h100_2_nodes.toml",
        "7b_a100_1_node.toml",
        "7b_h100_2_nodes.toml",
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_fits_the_gpus_and_the_host(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = read(str(path))
    gpu = GPUS[str(config.slurm.gpu_type)]
    assert dispatch(["budget", str(path), "--gpu", gpu, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == []
    assert found["device"]["band_gib"][1] < found["device"]["limit_gib"]
    host_gib = found["host"]["gib_per_gpu"] * config.slurm.gpus_per_node
    assert host_gib * HOST_FACTOR < config.slurm.trainer_memory_mib / 1024


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_numbers_go_together(path: Path) -> None:
    config = read(str(path))
    rollouts = config.data.train_batch_size * config.rollout.n
    assert rollouts % config.devices == 0
    assert config.data.max_prompt_tokens + config.data.max_response_tokens == config.rollout.max_model_len
    assert config.actor.max_tokens_per_gpu * config.actor.sequence_parallel_size >= config.rollout.max_model_len
    servers = config.devices // config.rollout.tensor_parallel_size
    assert config.agent.max_parallel <= config.rollout.max_sequences * servers
    sandbox = config.sandbox
    slots = worker_slots(
        cpus=config.slurm.runtime_cpus, reserved_cpus=sandbox.reserved_cpus, cpus_per_sandbox=sandbox.cpus
    )
    assert config.agent.max_parallel <= slots <= config.slurm.runtime_memory_mib // sandbox.memory_mib


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_value_has_its_reason(path: Path) -> None:
    settings = [line for line in path.read_text().splitlines() if " = " in line and not line.startswith("#")]
    bare = {line.partition(" = ")[0].strip() for line in settings if "  #" not in line and " # " not in line}
    assert bare - OBVIOUS == set()
