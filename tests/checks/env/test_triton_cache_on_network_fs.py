"""ENV002."""

from checks.env.triton_cache_on_network_fs import triton_cache_on_network_fs
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.caches import CachePlace, Caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.mounts import Mount
from skyrl_train.node.caches import Cache
from support import judge, recorded

HOST = Host(
    name="n", user="me", uid=7, gid=7, pid=1, cpus=1, system="Linux", python="/usr/bin/python3", cwd="/home/me", now=0.0
)
LOCAL = Mount("/", "xfs", "/dev/sda1", ("rw",))
MOVED = Remedy(
    kind=RemedyKind.FIX_ENV,
    summary="move the cache to the node",
    settings={"TRITON_CACHE_DIR": "/tmp/skyrl-7/triton"},
    safe=True,
)


def place(path: str, mount: Mount = LOCAL, *, trouble: str = "", unseen: str = "") -> CachePlace:
    cache = Cache(program="Triton", variable="TRITON_CACHE_DIR", decided_by="TRITON_CACHE_DIR", path=path)
    return CachePlace(path=path, cache=cache, resolved=path, mount=mount, trouble=trouble, unreadable=unseen)


def found(triton: CachePlace, scratch: Mount = LOCAL) -> list[Finding]:
    environ = Environ({"TRITON_CACHE_DIR": triton.path, "HOME": "/home/me"})
    caches = Caches((triton,), (CachePlace(path="/tmp", resolved="/tmp", mount=scratch),))
    return list(triton_cache_on_network_fs(caches, environ, HOST))


def test_is_silent_on_a_local_disk() -> None:
    assert found(place("/var/cache/triton")) == []


def test_a_network_file_system_is_a_warning() -> None:
    assert found(place("/nfs/triton", Mount("/nfs", "nfs4", "filer:/x", ("rw",)))) == [
        Finding(
            message="Triton's cache: /nfs/triton is on nfs4 (/nfs); expected a directory on the node's own disk",
            severity=Severity.WARNING,
            remedy=MOVED,
        )
    ]


def test_what_cannot_be_written_or_loaded_from_is_an_error() -> None:
    noexec = Mount("/scratch", "xfs", "/dev/sdb", ("rw", "noexec"))
    findings = [
        *found(place("/x/triton", trouble="/x is not writable by this user")),
        *found(place("/scratch/triton", noexec)),
        *found(place("")),
    ]
    wanted = "expected a directory that this user can write and load code from"
    assert findings == [
        Finding(
            message=f"Triton's cache: /x/triton cannot be used: /x is not writable by this user; {wanted}",
            remedy=MOVED,
        ),
        Finding(
            message=f"Triton's cache: /scratch/triton is on /scratch, which is mounted noexec; {wanted}", remedy=MOVED
        ),
        Finding(message=f"Triton's cache: TRITON_CACHE_DIR is set but empty; {wanted}", remedy=MOVED),
    ]


def test_no_place_is_promised_where_none_is_fit() -> None:
    (finding,) = found(
        place("/nfs/t", Mount("/nfs", "lustre", "x", ())), scratch=Mount("/tmp", "tmpfs", "tmpfs", ("noexec",))
    )
    assert finding.remedy == Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="find a local disk for the cache: no place here is fit",
        settings={},
        safe=False,
    )


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV002", "caches_in_nfs_home") == Outcome(
        id="ENV002",
        slug="triton-cache-on-network-fs",
        status=Status.FAIL,
        findings=(
            Finding(
                message=(
                    "Triton's cache: /home/trainer/.triton/cache (a symbolic link to /home/trainer/scratch/.triton/cache) "
                    "is on nfs4 (/home); expected a directory on the node's own disk"
                ),
                severity=Severity.WARNING,
                remedy=Remedy(
                    kind=RemedyKind.FIX_ENV,
                    summary="move the cache to the node",
                    settings={"TRITON_CACHE_DIR": "/tmp/skyrl-1000-4711/triton"},
                    safe=True,
                ),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV002", "clean_gpu_node").status is Status.PASS


def test_a_cache_that_could_not_be_looked_at_is_no_pass() -> None:
    path = "/tmp/skyrl-1000-4711"
    machine = recorded("clean_gpu_node").but({f"lstat {path}": {"unreadable": path, "why": "Permission denied"}})
    outcome = judge("ENV002", machine)
    assert (outcome.status, outcome.reason) == (Status.UNKNOWN, f"Triton's cache: {path}: Permission denied")


def test_an_unset_home_is_no_pass() -> None:
    outcome = judge("ENV002", recorded("clean_gpu_node").but({"environ": {"PATH": "/bin"}}))
    assert (outcome.status, outcome.reason) == (
        Status.UNKNOWN,
        "HOME is not set, so the compilers' cache directories are unknown",
    )
