"""A real Slurm with two GPU nodes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.slurm.lab import Cluster, cluster_of_lane
from lanes.slurm.several.two import NODES
from lanes.slurm.site import Site


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Cluster]:
    with cluster_of_lane("slurm", NODES) as cluster:
        yield cluster


@pytest.fixture
def site(two_nodes: Cluster, tmp_path: Path) -> Iterator[Site]:
    yield Site(two_nodes, tmp_path)
    two_nodes.clear()
