"""A trainer job of two nodes that share only a file system: real Slurm, Ray, verl and vLLM on both of them."""

import pytest

from lanes.e2e.whole import Whole
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.e2e
TWO = {
    "[slurm]\n": "[slurm]\nnodes = 2\n",
    "n = 2\n": "n = 2\nagent_workers = 2\n",
    "micro_batch_size_per_gpu = 8": "micro_batch_size_per_gpu = 4",
}


def test_two_nodes_train_save_and_resume(two_nodes: Whole) -> None:
    two_nodes.launch(two_nodes.config(steps=2, **TWO))
    assert two_nodes.status == 0, two_nodes.said
    assert two_nodes.end_of(Role.TRAINER).status == 0, two_nodes.logs()
