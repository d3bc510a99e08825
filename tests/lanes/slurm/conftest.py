"""The fixtures of the slurm lane."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.slurm.hooks import Installed, installed_cluster
from lanes.slurm.lab import Cluster, cluster_of_lane
from lanes.slurm.site import Site


@pytest.fixture(scope="session")
def session_cluster() -> Iterator[Cluster]:
    with cluster_of_lane("slurm") as cluster:
        yield cluster


@pytest.fixture
def cluster(session_cluster: Cluster) -> Iterator[Cluster]:
    """The session's cluster, idle before the test and after it."""
    yield session_cluster
    session_cluster.clear()


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Site:
    return Site(cluster, tmp_path)


@pytest.fixture(scope="session")
def session_installed() -> Iterator[Installed]:
    with installed_cluster() as made:
        yield made


@pytest.fixture
def installed(session_installed: Installed) -> Iterator[Installed]:
    """A cluster with the scripts of contrib/slurm, idle before the test and after it."""
    yield session_installed
    for name in ("hangs", "taken"):
        (session_installed.at / name).unlink(missing_ok=True)
    session_installed.cluster.clear()
