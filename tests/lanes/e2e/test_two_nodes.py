"""A trainer job of two nodes that share only a file system: real Slurm, Ray, verl and vLLM on both of them."""

import json
import sys
from pathlib import Path

import pytest

from lanes.e2e.whole import Whole
from lanes.slurm.several.two import NODES
from skyrl_train.launch import node_files
from skyrl_train.launch.role import Role

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        Path(__file__).is_relative_to("/tmp") or sys.prefix.startswith("/tmp/"),
        reason="a node with its own /tmp does not see this checkout, which is below /tmp",
    ),
]
CHANGES = {
    "[slurm]\n": "[slurm]\nnodes = 2\n",
    "n = 2\n": "n = 2\nagent_workers = 2\n",
    "micro_batch_size_per_gpu = 8": "micro_batch_size_per_gpu = 4",
}
RANKS = len(NODES)


def test_two_nodes_train_save_and_leave_nothing(two_nodes: Whole) -> None:
    trained(two_nodes, 1)


def test_a_checkpoint_of_two_nodes_is_resumed_on_two(two_nodes: Whole) -> None:
    trained(two_nodes, 1)
    assert f"training resumes from {two_nodes.saved(1)}" not in two_nodes.log(Role.TRAINER)
    two_nodes.name = "resumed"
    trained(two_nodes, 2)
    assert f"training resumes from {two_nodes.saved(1)}" in two_nodes.log(Role.TRAINER)
    shards = [[two_nodes.weights(step, rank=rank, ranks=RANKS) for rank in range(RANKS)] for step in (1, 2)]
    assert [one != other for one, other in zip(*shards, strict=True)] == [True, True]


def trained(made: Whole, step: int) -> None:
    """A launch that ends with this step, which is its only one."""
    made.launch(made.config(steps=step, **CHANGES))
    assert made.status == 0, made.said
    assert made.end_of(Role.TRAINER).status == 0, made.logs()
    assert made.end_of(Role.RUNTIME).status == 0, made.logs()
    assert made.has_step(step), made.logs()
    step_was_real(made, step)
    nodes_had_their_parts(made, step)
    made.leaves_nothing()


def step_was_real(made: Whole, step: int) -> None:
    (counts,) = made.counts()
    assert (counts.rollouts, counts.masked) == (8, 0), counts
    assert counts.turns > counts.rollouts  # two turns in most
    (one,) = [json.loads(line)["data"] for line in (made.job / "metrics.jsonl").read_text().splitlines()]
    assert one["training/global_step"] == step
    assert one["training/rollout_probs_diff_mean"] < 0.05  # both servers sample with the weights of both ranks
    assert one["training/rollout_actor_probs_pearson_corr"] > 0.99


def nodes_had_their_parts(made: Whole, step: int) -> None:
    assert made.cluster.machines is not None
    addresses = [made.cluster.machines.addresses[node] for node in NODES]
    log = made.log(Role.TRAINER)
    head = node_files.read_head(str(made.job))
    assert head is not None
    assert head.host == addresses[0]
    for actor in (
        "WorkerDict",
        "vLLMHttpServer",
    ):  # Ray names the node of a process only where the driver is on another
        assert f"ip={addresses[1]}" in "".join(line for line in log.splitlines() if f"({actor} " in line), actor
    assert f"weights of step {step} proven on 2 model servers" in log
    reports = node_files.read_reports(str(made.job), NODES)
    assert {node: (one.state, one.status) for node, one in reports.items()} == dict.fromkeys(NODES, ("ended", 0))
