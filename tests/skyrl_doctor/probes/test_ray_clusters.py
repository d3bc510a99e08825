"""What other clusters left behind."""

import pytest

from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.ray_clusters import AddressFile, RayClusters, RayProcess
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.probes.host import host
from skyrl_doctor.probes.ray_clusters import ray_clusters
from support import recorded

CLEAN = recorded("clean_gpu_node")
FOREIGN = recorded("foreign_ray_cluster")
PGREP = "run pgrep -l -x 'gcs_server|raylet'"
FILE = "/tmp/ray/ray_current_cluster"
JOB = frozenset({"4650"})
PROCESSES = (RayProcess(20511, "gcs_server", 1007, JOB), RayProcess(20677, "raylet", 1007, JOB))


def look(machine: Machine, **environ: str) -> object:
    return ray_clusters.look(machine, Environ({"TMPDIR": "/tmp", **environ}), host.look(machine))


def test_a_clean_node_holds_nothing() -> None:
    assert look(CLEAN) == RayClusters()


def test_finds_the_file_and_the_processes() -> None:
    assert look(FOREIGN) == RayClusters(file=AddressFile(FILE, "10.2.3.17:6379", 1007), processes=PROCESSES)


def test_looks_where_ray_would() -> None:
    path = "/home/trainer/run/ray/ray_current_cluster"
    gone = {f"stat {place}": {"absent": place} for place in (path, "/home/trainer/run/ray")}
    machine = CLEAN.but({f"read {path}": ["10.2.3.17:6379"], **gone})
    assert look(machine, RAY_TMPDIR="") == RayClusters(file=AddressFile(path, "10.2.3.17:6379", None))


def test_a_directory_that_may_not_be_written_into_is_closed() -> None:
    found = look(FOREIGN.but({"writable /tmp/ray": False}))
    assert isinstance(found, RayClusters)
    assert found.closed == AddressFile("/tmp/ray", None, 1007)


def test_a_file_that_may_not_be_read_is_there() -> None:
    machine = FOREIGN.but({f"read {FILE}": {"unreadable": FILE, "why": "Permission denied"}})
    assert look(machine) == RayClusters(file=AddressFile(FILE, None, 1007), processes=PROCESSES)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"found": False}, "pgrep -l -x 'gcs_server|raylet': no such command"),
        ({"timed_out": True}, "pgrep -l -x 'gcs_server|raylet': no answer within 2 s"),
        ({"rc": 2, "err": ["pgrep: bad"]}, "pgrep -l -x 'gcs_server|raylet': exit status 2: pgrep: bad"),
        ({"rc": 0, "out": ["Usage:"]}, "pgrep -l -x 'gcs_server|raylet': no line of pgrep -l: 'Usage:'"),
    ],
)
def test_says_why_no_process_could_be_listed(answer: dict[str, object], why: str) -> None:
    assert look(CLEAN.but({PGREP: answer})) == RayClusters(processes=None, hidden=why)


def test_a_process_may_end_or_hide_its_job_meanwhile() -> None:
    hidden = "/proc/20677/cgroup"
    machine = FOREIGN.but(
        {
            "stat /proc/20511": {"absent": "/proc/20511"},
            f"read {hidden}": {"unreadable": hidden, "why": "Permission denied"},
        }
    )
    assert look(machine) == RayClusters(
        file=AddressFile(FILE, "10.2.3.17:6379", 1007), processes=(RayProcess(20677, "raylet", 1007),)
    )
