"""The command lines of one Ray cluster, its ports and its token."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.ray_cluster import (
    Head,
    Share,
    cluster_environ,
    driver_environ,
    head_words,
    ports,
    share_of,
    worker_words,
)

HEAD = Head("10.1.2.3", 24710)
SHARE = Share(cpus=96, gpus=8)
COMMON = (
    "--num-cpus=96",
    "--num-gpus=8",
    "--min-worker-port=0",
    "--max-worker-port=0",
    "--disable-usage-stats",
    "--block",
)
START = ("/v/python", "-m", "ray.scripts.scripts", "start")


def test_the_head_has_every_port_of_its_own() -> None:
    assert head_words("/v/python", HEAD, 24711, SHARE) == (
        *START,
        "--head",
        "--node-ip-address=10.1.2.3",
        "--port=24710",
        "--ray-client-server-port=24711",
        "--include-dashboard=false",
        *COMMON,
    )


def test_ray_counts_as_many_cpus_as_verl_requests() -> None:
    assert share_of(cpus=2, gpus=1) == Share(cpus=13, gpus=1)
    assert share_of(cpus=8, gpus=8) == Share(cpus=34, gpus=8)
    assert share_of(cpus=96, gpus=8) == Share(cpus=96, gpus=8)


def test_a_worker_joins_by_address() -> None:
    assert worker_words("/v/python", HEAD, SHARE) == (*START, "--address=10.1.2.3:24710", *COMMON)
    assert Head("fd00::1", 24710).address == "[fd00::1]:24710"


def test_only_the_job_s_token_counts_and_no_other_cluster() -> None:
    home = {
        "RAY_AUTH_TOKEN": "x",
        "RAY_AUTH_TOKEN_PATH": "/home/me/.ray/auth_token",
        "RAY_ADDRESS": "old:6379",
        "A": "1",
    }
    own = {"A": "1", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": "/j/ray/token"}
    assert cluster_environ(home, "/j/ray/token") == own
    assert cluster_environ({"RAY_AUTH_MODE": "disabled"}, "/t")["RAY_AUTH_MODE"] == "disabled"
    assert driver_environ(own, HEAD) == {**own, "RAY_ADDRESS": "10.1.2.3:24710"}


@given(st.integers(0, 10**9))
def test_ports_are_pairs_below_the_kernel_s_own(job_id: int) -> None:
    pairs = list(ports(str(job_id)))
    assert all(20000 <= first < second < 30000 and second == first + 1 for first, second in pairs)
    assert len(set(pairs)) == len(pairs)


def test_jobs_side_by_side_begin_elsewhere() -> None:
    assert len({next(ports(job_id)) for job_id in ("4711", "4712", "4713")}) == 3
