"""A real Slurm with two GPU nodes."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.slurm.lab import Cluster, a_cluster
from lanes.slurm.several.two import NODES
from lanes.slurm.site import Site


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Cluster]:
    if os.getuid() != 0:
        pytest.skip("the slurm lane needs root: slurmd starts jobs as their users")
    with tempfile.TemporaryDirectory(prefix="sl", dir="/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with a_cluster(Path(name), gpu_nodes=NODES) as cluster:
            yield cluster


@pytest.fixture
def site(two_nodes: Cluster, tmp_path: Path) -> Iterator[Site]:
    yield Site(two_nodes, tmp_path)
    two_nodes.clear()
