"""What the workers of the run will inherit."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import host
from skyrl_doctor.facts.ray_clusters import AddressFile, RayClusters, RayProcess
from skyrl_doctor.facts.ray_workers import RayWorkers, ray_workers
from support import recorded

EARLY = recorded("ray_started_too_early")
OWN = RayProcess(20677, "raylet", 1000, frozenset({"4711"}))
IN_JOB = {"SLURM_JOB_ID": "4711", "A": "1"}
TRAINER = "the Ray that the trainer starts"


def look(clusters: RayClusters, **more: str) -> object:
    return ray_workers.look(EARLY, Environ({**IN_JOB, **more}), host.look(EARLY), clusters)


def test_a_ray_of_its_own_inherits_all() -> None:
    alone = RayWorkers(names=frozenset(IN_JOB), of=TRAINER)
    assert look(RayClusters()) == alone
    assert look(RayClusters(), RAY_ADDRESS="") == RayWorkers(names=frozenset({*IN_JOB, "RAY_ADDRESS"}), of=TRAINER)
    found = look(RayClusters(processes=None, hidden="no pgrep"), RAY_ADDRESS="local")
    assert isinstance(found, RayWorkers)
    assert found.of == TRAINER


def test_a_raylet_of_this_job_is_asked() -> None:
    inherited = frozenset({"PATH", "SLURM_JOB_ID", "HOME"})
    of = "the raylet of this job (process 20677)"
    assert look(RayClusters(processes=(OWN,)), RAY_ADDRESS="h:1") == RayWorkers(names=inherited, of=of)
    no_groups = RayProcess(20677, "raylet", 1000)  # Slurm without control groups: its environment names the job
    assert look(RayClusters(processes=(no_groups,)), RAY_ADDRESS="h:1") == RayWorkers(names=inherited, of=of)


@pytest.mark.parametrize(
    "process",
    [RayProcess(20677, "raylet", 1007, frozenset({"4711"})), RayProcess(20677, "raylet", 1000, frozenset({"4712"}))],
)
def test_another_s_is_not_asked(process: RayProcess) -> None:
    foreign = RayClusters(processes=(process,), file=AddressFile("/tmp/ray/ray_current_cluster", "h:1", 1007))
    assert look(foreign, RAY_ADDRESS="h:1") == RayWorkers(names=None, of="RAY_ADDRESS=h:1")
    assert look(foreign) == RayWorkers(names=None, of="/tmp/ray/ray_current_cluster")


def test_whose_it_is_may_be_hidden() -> None:
    with pytest.raises(CouldNotLook, match="no pgrep"):
        look(RayClusters(processes=None, hidden="no pgrep"), RAY_ADDRESS="h:1")
