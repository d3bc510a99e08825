"""Traces of Ray."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import host
from skyrl_doctor.facts.ray_clusters import (
    Address,
    AddressFile,
    RayClusters,
    RayProcess,
    parse_address,
    parse_pgrep,
    ray_clusters,
    slurm_jobs,
)
from skyrl_doctor.machine.base import Machine
from support import recorded

MINE = RayProcess(10, "gcs_server", 1000, frozenset({"4711"}))
THEIRS = RayProcess(11, "raylet", 1007, frozenset({"4711"}))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("10.1.2.3:6379", Address("10.1.2.3", 6379)),
        (" node:6379\n", Address("node", 6379)),
        ("ray://node:10001", Address("node", 10001)),
        ("[::1]:6379", Address("::1", 6379)),
        ("", None),
        ("auto", None),
        ("local", None),
        ("node:", None),
        (":6379", None),
        ("node:0", None),
        ("node:70000", None),
        ("http://node:80", None),
        ("two words:80", None),
        ("node:²", None),
    ],
)
def test_reads_an_address(text: str, address: Address | None) -> None:
    assert parse_address(text) == address


@given(st.text())
def test_an_address_has_a_port(text: str) -> None:
    found = parse_address(text)
    assert found is None or (found.host and 0 < found.port < 65536)


def test_writes_an_address_as_it_is_read() -> None:
    assert (str(Address("::1", 1)), str(Address("n", 2))) == ("[::1]:1", "n:2")


def test_reads_pgrep() -> None:
    assert parse_pgrep("20511 gcs_server\n20677 raylet\n") == ((20511, "gcs_server"), (20677, "raylet"))
    assert parse_pgrep("") == ()


@given(st.text(min_size=1))
def test_garbage_is_no_empty_list(text: str) -> None:
    try:
        found = parse_pgrep(text)
    except ValueError:
        return
    assert len(found) == len(text.splitlines())


@pytest.mark.parametrize(
    ("cgroup", "jobs"),
    [
        ("0::/system.slice/slurmstepd.scope/job_4711/step_0\n", {"4711"}),
        ("4:memory:/slurm/uid_1/job_12\n3:cpu:/slurm/uid_1/job_12/step_batch\n", {"12"}),
        ("0::/user.slice/myjob_12/x\n", set()),
        ("", set()),
    ],
)
def test_finds_the_slurm_job(cgroup: str, jobs: set[str]) -> None:
    assert slurm_jobs(cgroup) == jobs


def test_knows_a_cluster_of_this_very_job() -> None:
    clusters = RayClusters(processes=(MINE, THEIRS))
    assert clusters.of_job("4711", 1000) is True
    assert clusters.of_job("4712", 1000) is False
    assert clusters.of_job(None, 1000) is False
    assert RayClusters(processes=(THEIRS,)).of_job("4711", 1000) is False
    assert RayClusters(processes=None, hidden="pgrep: no such command").of_job("4711", 1000) is False


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
