"""The fixtures of the slurm lane."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.slurm.lab import Cluster, a_cluster
from lanes.slurm.site import Site


@pytest.fixture(scope="session")
def session_cluster() -> Iterator[Cluster]:
    if os.getuid() != 0:
        pytest.skip("the slurm lane needs root: slurmd starts jobs as their users")
    with tempfile.TemporaryDirectory(prefix="sl", dir="/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with a_cluster(Path(name)) as cluster:
            yield cluster


@pytest.fixture
def cluster(session_cluster: Cluster) -> Iterator[Cluster]:
    """The session's cluster, idle before the test and after it."""
    yield session_cluster
    session_cluster.clear()


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Site:
    return Site(cluster, tmp_path)
