"""POD002."""

from dataclasses import replace
from typing import Any

import pytest

from checks.pod.shared import isolate
from checks.pod.storage_stale_or_on_nfs import storage_stale_or_on_nfs
from fakes.podman_store import BASE, PLACES, STORE, XDG, store
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.mounts import Mount
from skyrl_doctor.facts.podman.database import Container, Database
from skyrl_doctor.facts.podman.file_systems import StoreDirectory, StoreFileSystems
from skyrl_doctor.facts.podman.processes import Monitored, PidFile, PodmanProcesses, Process
from skyrl_doctor.facts.podman.runtime_dir import RuntimeDir, Seen
from skyrl_doctor.facts.podman.settings import StorageConf
from skyrl_doctor.machine.queries import Space
from support import judge

JOB = Environ({"SLURM_JOB_ID": "4711"})
CURE = isolate(STORE, JOB)
PRUNE = Remedy(
    kind=RemedyKind.RESET_STORE,
    summary="free space there, or take another disk; this command deletes every image that no container uses",
    commands=("podman image prune --all --force",),
)
ROOM = Space(total_bytes=1 << 40, free_bytes=1 << 39, free_inodes=10**6)
XFS, NFS, TMPFS = Mount("/", "xfs", "/dev/sda"), Mount("/home", "nfs4", "filer:/home"), Mount("/run", "tmpfs", "tmpfs")
GRAPH = StoreDirectory(path=f"{BASE}/graph", resolved=f"{BASE}/graph", exists=True, mount=XFS, space=ROOM)
RUN = StoreDirectory(path=f"{XDG}/containers", resolved=f"{XDG}/containers", exists=True, mount=TMPFS, space=ROOM)
GROUND = StoreFileSystems(
    graph=GRAPH,
    run=RUN,
    configured_graph=PLACES.graph_root,
    configured_run=PLACES.run_root,
    tmp_creatable=True,
)
QUIET = PodmanProcesses(own_user_ns="user:[1]", uid=1000, pause=None, fresh=False)
WANTED = "wanted a directory of uid 1000 with mode 0700"

Said = tuple[str, Severity]


def judged(ground: StoreFileSystems = GROUND, environ: Environ = JOB, **changes: Any) -> list[Finding]:
    return list(storage_stale_or_on_nfs(store(**changes), ground, QUIET, environ))


def said(ground: StoreFileSystems = GROUND, environ: Environ = JOB, **changes: Any) -> list[Said]:
    return [(finding.message, finding.severity) for finding in judged(ground, environ, **changes)]


def runtime(asked: str | None, used: str, *, mode: int | None = None, refused: str = "") -> RuntimeDir:
    seen = None if mode is None else Seen(True, 1000, mode)
    return RuntimeDir(asked=asked, used=used, for_store=used, seen=seen, refused=refused)


def test_is_silent_on_good_ground() -> None:
    assert judged() == []


def test_finds_a_runtime_dir_that_podman_refuses() -> None:
    refused = runtime("/run/user/1000", "/run/user/1000", refused="/run/user/1000 does not exist")
    assert judged(runtime_dir=refused) == [
        Finding(
            message=(
                "XDG_RUNTIME_DIR: /run/user/1000 does not exist; wanted a directory of uid 1000 with mode 0700: "
                "Podman does not start without"
            ),
            remedy=CURE,
        )
    ]


def test_finds_a_runtime_dir_of_the_login_node_that_podman_passes_over() -> None:
    instead = "Podman takes /tmp/podman-run-1000 instead, which all jobs of the user share"
    message = f"XDG_RUNTIME_DIR=/run/user/1000 does not exist; {WANTED}: {instead}"
    assert said(runtime_dir=runtime("/run/user/1000", "/tmp/podman-run-1000")) == [(message, Severity.WARNING)]


def test_a_job_without_a_runtime_dir_shares_the_fallback() -> None:
    unset = runtime(None, "/tmp/podman-run-1000")
    assert said(runtime_dir=unset) == [
        (f"XDG_RUNTIME_DIR is not set; {WANTED}: all jobs of the user share /tmp/podman-run-1000", Severity.WARNING)
    ]
    assert said(environ=Environ({}), runtime_dir=unset) == []
    assert said(runtime_dir=runtime(None, "/run/user/1000")) == []
    assert said(runtime_dir=None) == []


@pytest.mark.parametrize(
    ("mode", "severity"), [(0o755, Severity.INFO), (0o770, Severity.WARNING), (0o1777, Severity.WARNING)]
)
def test_finds_a_runtime_dir_that_others_may_enter(mode: int, severity: Severity) -> None:
    shown = f"{mode & 0o777:04o}"
    assert said(runtime_dir=runtime(XDG, XDG, mode=mode)) == [
        (f"XDG_RUNTIME_DIR={XDG} has mode {shown}; {WANTED}", severity)
    ]
    assert said(runtime_dir=runtime(XDG, XDG, mode=0o1700)) == []


def test_finds_a_store_on_a_network() -> None:
    on_nfs = replace(GROUND, graph=replace(GRAPH, path="/home/me/g", mount=NFS, space=None))
    message = "the store /home/me/g is on nfs4; wanted a local file system"
    assert said(on_nfs) == [(message, Severity.ERROR)]
    fuse = StorageConf(mount_program="/usr/bin/fuse-overlayfs")
    assert said(on_nfs, storage=fuse) == [(message, Severity.WARNING)]
    run = replace(GROUND, run=replace(RUN, path="/home/me/r", mount=NFS, space=None))
    assert said(run) == [("the run root /home/me/r is on nfs4; wanted tmpfs or a local disk", Severity.WARNING)]


def test_finds_overlay_upon_overlay() -> None:
    inside = replace(GROUND, graph=replace(GRAPH, mount=Mount("/", "overlay", "overlay")))
    message = f"the store {BASE}/graph is on overlay, which cannot carry the overlay driver; wanted a disk or tmpfs"
    assert said(inside) == [(message, Severity.ERROR)]
    assert said(inside, storage=StorageConf(mount_program="/usr/bin/fuse-overlayfs")) == []
    assert said(inside, configured=replace(PLACES, driver="vfs")) == []


def test_finds_state_of_before_the_last_boot() -> None:
    old = f"the state in {XDG}/libpod/tmp is of before the last boot, and Podman takes it for today's"
    message = f"{old}; wanted it on tmpfs (it is on tmpfs)"
    assert said(replace(GROUND, older_than_boot=True)) == [(message, Severity.WARNING)]


def test_finds_a_store_that_was_made_elsewhere() -> None:
    made = Database(path="x", graph_root="/old", run_root="/oldrun", tmp_dir="/oldrun/t", driver="vfs")
    moved = f"the store in {BASE}/graph was made in /old, and Podman goes on there; wanted a store that lies where it was made"
    pinned = f"the store was made with the run root /oldrun, and Podman keeps to it; wanted {XDG}/containers"
    driver = (
        "the store was made with the driver 'vfs', and Podman keeps to it; "
        f"wanted 'overlay' as {BASE}/storage.conf says"
    )
    assert said(database=made) == [
        (moved, Severity.ERROR),
        (pinned, Severity.WARNING),
        (driver, Severity.WARNING),
    ]
    lost = replace(GROUND, tmp_creatable=False)
    assert said(lost, database=replace(made, graph_root="", driver="")) == [
        (f"{pinned}: /oldrun/t cannot be made here", Severity.ERROR)
    ]


def test_a_store_behind_a_link_was_not_moved() -> None:
    through_link = replace(GROUND, configured_graph="/disk/graph", configured_run="/disk/run")
    assert said(through_link, database=Database(path="x", graph_root="/disk/graph", run_root="/disk/run")) == []


def test_finds_dead_containers_of_earlier_jobs() -> None:
    old, running, new = (
        Container(id=name, name=name, state=state, created=created)
        for name, state, created in (("old", 6, 50.0), ("running", 3, 60.0), ("new", 6, 150.0))
    )
    alive = Process(pid=7, name="conmon", state="S", uid=1000, user_ns="user:[2]")
    conmon = PidFile(path="/c", text="7", pid=7, process=alive)
    processes = replace(QUIET, running=(Monitored(container=running, conmon=conmon),))
    database = Database(path="x", containers=(old, running, new, Container(id="undated", state=6)))
    ground = replace(GROUND, job_started=100.0)
    found = list(storage_stale_or_on_nfs(store(database=database), ground, processes, JOB))
    assert [finding.message for finding in found] == [
        "the store holds 1 dead containers that are older than this job, such as 'old'; wanted none"
    ]
    assert said(database=database) == []


@pytest.mark.parametrize(
    ("free", "severity"), [(0, Severity.ERROR), (1 << 29, Severity.ERROR), (2 << 30, Severity.WARNING)]
)
def test_finds_a_disk_that_is_full(free: int, severity: Severity) -> None:
    full = replace(GROUND, graph=replace(GRAPH, space=replace(ROOM, free_bytes=free)))
    assert judged(full) == [
        Finding(
            message=f"{free / (1 << 30):.1f} GiB are free for the store {BASE}/graph; wanted 5 GiB: one sandbox image has 1-5",
            severity=severity,
            remedy=PRUNE,
        )
    ]


def test_finds_a_disk_without_inodes_where_they_are_counted() -> None:
    none_left = replace(GRAPH, space=replace(ROOM, free_inodes=0))
    assert judged(replace(GROUND, graph=none_left)) == [
        Finding(message=f"0 inodes are free for the store {BASE}/graph; wanted 10000", remedy=PRUNE)
    ]
    assert judged(replace(GROUND, graph=replace(none_left, mount=Mount("/", "btrfs", "/dev/sda")))) == []


def test_what_could_not_be_read_is_unknown() -> None:
    with pytest.raises(CouldNotLook, match=r"^where the store was made stays unknown: x: Permission denied$"):
        judged(database=Database(path="x", unread="x: Permission denied"))
    with pytest.raises(CouldNotLook, match=r"graph could not be asked$"):
        judged(replace(GROUND, graph=replace(GRAPH, space=None)))


def test_reproduces_on_recordings() -> None:
    nfs = judge("POD002", "store_in_nfs_home", role=Role.RUNTIME)
    assert [(finding.message, finding.severity) for finding in nfs.findings] == [
        (
            "the store /home/trainer/.local/share/containers/storage is on nfs4; wanted a local file system",
            Severity.ERROR,
        )
    ]
    moved = judge("POD002", "store_moved", role=Role.RUNTIME)
    message = f"the store in {BASE}/graph2 was made in {BASE}/graph, and Podman goes on there"
    assert [(finding.message, finding.severity) for finding in moved.findings] == [
        (f"{message}; wanted a store that lies where it was made", Severity.ERROR)
    ]
    assert (nfs.status, moved.status) == (Status.FAIL, Status.FAIL)


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD002", "clean_runtime_node", role=Role.RUNTIME) == Outcome(
        id="POD002", slug="storage-stale-or-on-nfs", status=Status.PASS
    )
