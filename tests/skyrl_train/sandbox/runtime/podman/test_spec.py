"""What Podman is asked for: never more than this host may give."""

import resource

import pytest

from skyrl_train.sandbox.engine import ContainerSpec
from skyrl_train.sandbox.runtime.podman.host import Host, host_of
from skyrl_train.sandbox.runtime.podman.spec import payload

SPEC = ContainerSpec(
    name="a",
    image="localhost/a:1",
    command=("sh",),
    environment={},
    working_dir="/",
    mounts=(),
    labels={},
    cpus=1.5,
    memory_mib=64,
    pids=32,
    disk_mib=100,
)


def hard_limits(monkeypatch: pytest.MonkeyPatch, **hard: int) -> None:
    by_kind = {resource.RLIMIT_NOFILE: hard["nofile"], resource.RLIMIT_NPROC: hard["nproc"]}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1, by_kind[kind]))


def test_no_limit_is_above_the_hosts_own(monkeypatch: pytest.MonkeyPatch) -> None:
    hard_limits(monkeypatch, nofile=4096, nproc=500)
    wanted = [{"type": "nofile", "soft": 4096, "hard": 4096}, {"type": "nproc", "soft": 500, "hard": 500}]
    assert payload(SPEC, Host())["r_limits"] == wanted
    assert payload(SPEC, host_of({}))["r_limits"] == wanted
    hard_limits(monkeypatch, nofile=resource.RLIM_INFINITY, nproc=resource.RLIM_INFINITY)
    assert [one["hard"] for one in payload(SPEC, Host())["r_limits"]] == [20_000, 20_000]


def test_limits_are_asked_for_where_the_host_sets_them() -> None:
    bare = payload(SPEC, Host())
    assert {"resource_limits", "storage_opts"}.isdisjoint(bare)
    whole = payload(SPEC, Host(limits=True, disk_quota=True))
    assert whole["resource_limits"]["pids"] == {"limit": 32}
    assert whole["resource_limits"]["cpu"] == {"period": 100_000, "quota": 150_000}
    assert whole["storage_opts"] == {"size": "100m"}


def test_a_sandbox_gets_a_share_of_the_terminals_and_no_writable_cgroups() -> None:
    bare = payload(SPEC, Host())
    assert {"mask", "seccomp_profile_path"}.isdisjoint(bare)
    assert bare["mounts"][-1]["options"][-1] == "max=64"
    info = {
        "cgroupVersion": "v1",
        "idMappings": {"gidmap": [{"size": 1}, {"size": 65536}]},
        "security": {"rootless": True, "seccompEnabled": True, "seccompProfilePath": "/p.json"},
    }
    made = payload(SPEC, host_of({"host": info}))
    assert (made["mask"], made["seccomp_profile_path"]) == (["/sys/fs/cgroup"], "/p.json")
    assert made["mounts"][-1]["options"][-1] == "gid=5"
