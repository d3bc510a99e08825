"""The fixtures of the e2e lane: one cluster and one directory of images for all of its tests; the model is every lane's."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lanes.e2e.whole import Whole, podman_environment, write_images
from lanes.slurm.lab import Cluster, cluster_of_lane
from lanes.slurm.several.two import NODES


@pytest.fixture(scope="session")
def session_cluster() -> Iterator[Cluster]:
    with cluster_of_lane("e2e") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("images") / "archives")


@pytest.fixture(scope="session")
def podman_env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    with podman_environment(tmp_path_factory.mktemp("podman")) as env:
        yield env


@pytest.fixture(scope="module")
def two_machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_of_lane("e2e", NODES, separate=[tmp_path_factory.getbasetemp()]) as cluster:
        yield cluster


@pytest.fixture
def two_nodes(
    two_machines: Cluster, tmp_path: Path, model: Path, images: Path, podman_env: Mapping[str, str]
) -> Iterator[Whole]:
    yield Whole(two_machines, tmp_path, model, images, podman_env)
    two_machines.clear()


@pytest.fixture
def whole(
    session_cluster: Cluster, tmp_path: Path, model: Path, images: Path, podman_env: Mapping[str, str]
) -> Iterator[Whole]:
    yield Whole(session_cluster, tmp_path, model, images, podman_env)
    session_cluster.clear()
