"""The directories of one job: those that the rules make, and no other."""

import pytest

from skyrl_train.node import caches, podman_store
from skyrl_train.node.places import job_directories
from skyrl_train.node.podman_store import store_name
from skyrl_train.node.prepare import Node, gpu_node, runtime_node


def test_all_that_the_rules_make_lies_in_them() -> None:
    environ = {"SLURM_JOB_ID": "77", "TMPDIR": "/scratch/" + "long/" * 20, "HOME": "/home/a"}
    node = Node(environ=environ, uid=1000, user="a", home="/home/a")
    places = job_directories(uid=1000, job_id="77", bases=caches.scratch_candidates(environ))
    made = [one.path for build in (gpu_node, runtime_node) for one in build(node).preparation.directories]
    assert made
    assert [path for path in made if not any(f"{path}/".startswith(f"{place}/") for place in places)] == []


def test_a_job_has_stores_caches_and_a_short_place() -> None:
    assert job_directories(uid=1000, job_id="77", bases=("/tmp", "/scratch/")) == (
        "/tmp/skyrl-1000-77",
        *(f"/tmp/skyrl-1000-77-{number}" for number in range(2, podman_store.STORES + 1)),
        "/scratch/skyrl-1000-77",
        "/tmp/r77",
    )
    assert [store_name("77", number) for number in (1, 2)] == ["77", "77-2"]


@pytest.mark.parametrize("job_id", ["", "local", "77/../..", "*", "²", "-1"])
def test_without_the_id_of_a_job_there_are_none(job_id: str) -> None:
    with pytest.raises(ValueError, match="is not a job id"):
        job_directories(uid=1000, job_id=job_id)
