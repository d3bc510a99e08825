"""Podman's store is on an unsuitable file system, was moved, or has too little space.

## What it does
Finds the store as Podman does (variables, storage.conf, then the database in the store itself), and checks its file
systems, the free space, XDG_RUNTIME_DIR and the age of its containers. It runs no podman command.

## Why it breaks training
By default the store is in the home directory. On NFS it cannot store the owner ids of image files. A store that was
moved, or created with another XDG_RUNTIME_DIR, is not isolated: Podman silently uses the directories that its
database was created with. An XDG_RUNTIME_DIR inherited from the login node names a directory that does not exist on
the job's node.

## How to fix
Give each job its own store on a local disk; `skyrl-doctor env` creates one. The job needs its own store and its own
XDG_RUNTIME_DIR; one of them alone does not isolate it.

## Example
    'overlay' is not supported over nfs at "/home/…/containers/storage/overlay": backing file system is unsupported
    for this graph driver
"""

from collections.abc import Iterator

from checks.pod.shared import isolate
from checks.vocabulary import NETWORK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.podman.file_systems import StoreDirectory, StoreFileSystems
from skyrl_doctor.facts.podman.processes import PodmanProcesses
from skyrl_doctor.facts.podman.runtime_dir import OWNER_ONLY, RuntimeDir
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_train.node.podman_store import GOOD_FREE_BYTES, MIN_FREE_BYTES, MIN_FREE_INODES

CAUSE = "Podman's store is on an unsuitable file system, or was created at another path"

SIGNATURES = (
    Signature(
        pattern=r"\bcurrent system boot ID differs from cached boot ID\b(?:.{0,80}[Pp]lease delete directories (?P<paths>\S{1,200} and \S{1,200}))?",
        sample='Error: current system boot ID differs from cached boot ID; an unhandled reboot has occurred. Please delete directories "/tmp/storage-run-1007/containers" and "/tmp/storage-run-1007/libpod/tmp" and re-run Podman',
        explain="Podman's run-time state is of an earlier boot of the node: it lies on a disk that the reboot did not empty",
        remedy="Delete the two directories that the line names; no container of this node runs from before the reboot. So that it does not come back, set XDG_RUNTIME_DIR to a directory of this job, such as `/tmp/run-$UID`, or put the run-time directory on a tmpfs.",
        versions="podman >= 5.1",
    ),
    Signature(
        pattern=r"\bshare lock ID \d{1,6}: deadlock due to lock mismatch\b",
        sample="Error: container 13fff305a827 and volume data share lock ID 0: deadlock due to lock mismatch",
        explain="two of Podman's objects have one lock: the store has state of an earlier boot or of another node",
        remedy="Stop all containers of the store, then run `podman system renumber`. Give each node a store of its own.",
        versions="podman",
    ),
    Signature(
        pattern=r"'overlay' is not supported over \w+ at",
        sample="Error: 'overlay' is not supported over nfs at \"/home/user/.local/share/containers/storage/overlay\": backing file system is unsupported for this graph driver",
        explain="Podman's store is on a file system that does not support overlay, such as NFS",
        versions="podman",
    ),
    Signature(
        pattern=r"lsetxattr .{0,120}operation not supported|(?:/containers/storage|/podman(?:/\w{1,30})?|/graph)/(?:vfs|overlay(?:-containers|-layers|-images)?)/\S{0,200}.{0,200}\boperation not supported",
        sample="Error: writing blob: adding layer: lsetxattr /: operation not supported",
        explain="Podman's store is on a file system without extended attributes",
        versions="podman",
    ),
    Signature(
        pattern=r"(?:\bapplying layer\b|\bprocessing tar file\b|\bunpacking failed\b|\bApplyLayer exit status).{0,200}\bopen (?P<file>/\S{1,200}): permission denied",
        sample="ERRO[0014] Error while applying layer: ApplyLayer exit status 1 stdout:  stderr: open /root/.bash_logout: permission denied",
        explain="the file system of Podman's store does not let containers write files of other users ({file}): NFS, Lustre and the like do not",
        remedy="Put the store on a local disk: `podman --root /tmp/$USER/storage …`, or `graphroot` in `~/.config/containers/storage.conf`.",
        versions="podman, buildah",
        unless="failed to register layer",
    ),
    Signature(
        pattern=r"database configuration mismatch",
        sample='Error: database libpod root directory (staticdir) "/tmp/a/libpod" does not match our libpod root directory "/tmp/b/libpod": database configuration mismatch',
        explain="the store was created at another path",
        versions="podman",
    ),
    Signature(
        pattern=r"Network file system detected as backing store",
        sample='time="2026-01-15T10:00:00Z" level=warning msg="Network file system detected as backing store.  Enforcing overlay option `force_mask=\\"700\\"`."',
        explain="Podman's store is on a network file system",
        versions="podman",
        role=Part.CONFIRMATION,
    ),
    Signature(
        pattern=r"backing file system is unsupported for this graph driver|\bprerequisites for driver not satisfied \(wrong filesystem|\B'overlay' not found as a supported filesystem\b|\bfailed to mount overlay for metacopy check\b|kernel does not support overlay fs|overlay is not supported",
        sample="Error: kernel does not support overlay fs: unable to create kernel-style whiteout: operation not permitted",
        explain=CAUSE,
        versions="podman",
    ),
    Signature(
        pattern=r"database (?:graph driver|static dir|run root|tmp dir|volume path|graph root|storage).{0,200}(?:does not match|mismatch)|User-selected graph driver .{0,60}overwritten by graph driver",
        sample='Error: database graph driver "vfs" does not match our graph driver "overlay": database configuration mismatch',
        explain=CAUSE,
        versions="podman",
    ),
    Signature(
        pattern=r"containers/storage.{0,200}[Ss]tale (?:NFS )?file handle|[Ss]tale (?:NFS )?file handle.{0,200}containers/storage|mount_program .{0,120}(?:no such file|not found|failed)|overlay: can't stat program|creating runtime (?:static|temporary) files directory .{1,300}(?:permission denied|read-only file system)",
        sample="Error: open /home/user/.local/share/containers/storage/overlay-layers/layers.lock: stale NFS file handle",
        explain=CAUSE,
        versions="podman",
    ),
    Signature(
        pattern=r"\b(?:l?stat|mkdir|chown|chmod|open) /run/user/\d{1,10}(?:/(?:containers|libpod|podman|runc|crun)\S{0,80})?: (?:no such file or directory|permission denied)",
        sample="Failed to obtain podman configuration: lstat /run/user/3067323: no such file or directory",
        explain="XDG_RUNTIME_DIR names a directory that does not exist on this node or belongs to another user",
        unless=r"\bpause\.pid\b",
        versions="podman 5",
    ),
    Signature(
        pattern=r"is pointing to a path \(\S{1,200}\) which is not writable",
        sample='level=warning msg="RunRoot is pointing to a path (/run/user/1042/containers) which is not writable. Most likely podman will fail."',
        explain="XDG_RUNTIME_DIR names a directory that this job cannot write",
        versions="podman 4",
        fatal=False,
    ),
    Signature(
        pattern=r"(?:\bthe store \S{1,300} cannot be created: |/podman/graph/|/containers/storage/|/overlay(?:-layers|-images|-containers)?/|creating (?:container storage|read-write layer)|(?:writing|storing|copying) blob|committing container|ApplyLayer).{0,400}[Nn]o space left on device",
        sample='Error: creating container storage: creating read-write layer with ID "ab12": mkdir /tmp/skyrl-1000-4711/podman/graph/overlay/ab12: no space left on device',
        explain="the disk of the sandbox store is full",
        remedy="Put the store on a larger disk of the node (`{key:sandbox.store}`), or remove what earlier jobs left{skyrl-train:: `skyrl-train sweep JOB_ID`|}. `df -h` and `df -i` show the disk's free space and inodes.",
        keys=("sandbox.store",),
        versions="podman",
        refines=("CKP003",),
    ),
    Signature(
        pattern=r"\bthe store \S{1,300} cannot be created: \[Errno (?!28\b)\d{1,3}\] (?P<reason>[\w -]{1,60})",
        sample="skyrl-train runtime: the store /scratch/skyrl-0-7/podman cannot be created: [Errno 13] Permission denied: '/scratch/skyrl-0-7'",
        explain="the runtime's node cannot create the sandbox store: {reason}",
        remedy="Set `{key:sandbox.store}` to a directory that the runtime's node has and that you may write.",
        keys=("sandbox.store",),
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\b(?:adding|beginning|opening|querying|retrieving|initializing|updating|saving|removing|committing|looking up|checking)\b[^\n]{0,200}: unable to open database file\b",
        sample="Error: adding container 4711bcb1 exit code 137: unable to open database file: no such file or directory",
        explain="Podman cannot open its database: the store's file system is full, gone or read-only, or the store was removed while Podman ran",
        remedy="`podman info | grep -i graphRoot` names the store: look there with `df -h` and `ls -l`. Free space, or move the store to a local disk that outlives the containers.",
        versions="podman >= 4.8",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:graph ?root|run ?root|container stor(?:e|age)|overlay)\b.{{0,100}}\b(?:{NETWORK}|not writable|read-only)\b",
    sample="Error: graphroot lies on NFS",
    explain="Podman's store is on an unsuitable file system",
    versions="any",
)

_GIB = 1 << 30
_OTHERS_WRITE = 0o022
_COUNTS_INODES = ("ext2", "ext3", "ext4", "xfs", "tmpfs")


@check("POD002", roles=[Role.RUNTIME], fix="skyrl_train/node/podman_store.py")
def storage_stale_or_on_nfs(
    store: PodmanStore, ground: StoreFileSystems, processes: PodmanProcesses, environ: Environ
) -> Iterator[Finding]:
    cure = isolate(store, environ)
    said = (
        *_runtime_dir(store, environ),
        *_file_systems(store, ground),
        *_moved(store, ground),
        *_stale(store, ground, processes),
    )
    found = [Finding(message=message, severity=severity, remedy=cure) for message, severity in said]
    found += _space(ground.graph)
    yield from found
    if found:
        return
    if store.database.unread:
        raise CouldNotLook(f"it is unknown where the store was created: {store.database.unread}")
    if ground.graph.space is None:
        raise CouldNotLook(f"the free space of {ground.graph.resolved} is unknown")


Said = tuple[str, Severity]


def _runtime_dir(store: PodmanStore, environ: Environ) -> Iterator[Said]:
    runtime = store.runtime_dir
    if runtime is None:
        return
    expected = f"expected a directory of uid {store.uid} with mode 0700"
    if runtime.refused:
        yield f"XDG_RUNTIME_DIR: {runtime.refused}; {expected}, without which Podman does not start", Severity.ERROR
    elif runtime.asked and runtime.seen is None:
        shared = f"Podman uses {runtime.used} instead, which all jobs of the user share"
        yield f"XDG_RUNTIME_DIR={runtime.asked} does not exist, so {shared}; {expected}", Severity.WARNING
    elif runtime.asked:
        yield from _mode(runtime, expected)
    elif environ.in_slurm_job and not runtime.used.startswith("/run/user/"):
        yield f"XDG_RUNTIME_DIR is not set, so all jobs of the user share {runtime.used}; {expected}", Severity.WARNING


def _mode(runtime: RuntimeDir, expected: str) -> Iterator[Said]:
    mode = runtime.seen.mode & 0o777 if runtime.seen is not None else OWNER_ONLY
    if mode == OWNER_ONLY:
        return
    severity = Severity.WARNING if mode & _OTHERS_WRITE else Severity.INFO
    yield f"XDG_RUNTIME_DIR={runtime.asked} has mode {mode:04o}; {expected}", severity


def _file_systems(store: PodmanStore, ground: StoreFileSystems) -> Iterator[Said]:
    graph, program = ground.graph, store.storage.mount_program
    if graph.on_network:
        severity = Severity.WARNING if program else Severity.ERROR
        yield f"the store {graph.path} is on {graph.file_system}; expected a local file system", severity
    elif graph.file_system == "overlay" and store.places.driver == "overlay" and not program:
        yield (
            f"the store {graph.path} is on overlay, which does not support the overlay driver; expected a disk or tmpfs",
            Severity.ERROR,
        )
    run = ground.run
    if run.on_network:
        yield f"the run root {run.path} is on {run.file_system}; expected tmpfs or a local disk", Severity.WARNING
    if ground.older_than_boot:
        seen = f"the state in {store.places.tmp_dir} is from before the last boot, but Podman uses it as current"
        yield f"{seen}; expected it on tmpfs (it is on {run.file_system})", Severity.WARNING


def _moved(store: PodmanStore, ground: StoreFileSystems) -> Iterator[Said]:
    said, asked = store.database, store.configured
    if said.graph_root and said.graph_root not in (asked.graph_root, ground.configured_graph):
        seen = f"the store in {asked.graph_root} was created in {said.graph_root}, and Podman still uses that directory"
        yield f"{seen}; expected a store that was not moved", Severity.ERROR
    if said.run_root and said.run_root not in (asked.run_root, ground.configured_run):
        severity = Severity.WARNING if ground.tmp_creatable else Severity.ERROR
        yield (
            f"the store was created with the run root {said.run_root}, which Podman still uses; expected {asked.run_root}"
            + ("" if ground.tmp_creatable else f", because {said.tmp_dir} cannot be created here"),
            severity,
        )
    if said.driver and asked.driver and said.driver != asked.driver:
        seen = f"the store was created with the driver {said.driver!r}, which Podman still uses"
        yield f"{seen}; expected {asked.driver!r} as set by {store.storage.path or 'STORAGE_DRIVER'}", Severity.WARNING


def _stale(store: PodmanStore, ground: StoreFileSystems, processes: PodmanProcesses) -> Iterator[Said]:
    started = ground.job_started
    if started is None:
        return
    alive = {found.container.id for found in processes.running if processes.holds_namespace(found.conmon)}
    stale = [
        container
        for container in store.database.containers
        if container.created is not None and container.created < started and container.id not in alive
    ]
    if stale:
        example = stale[0].name or stale[0].id[:12]
        seen = f"the store has {len(stale)} dead containers that are older than this job, such as {example!r}"
        yield f"{seen}; expected none", Severity.WARNING


def _space(graph: StoreDirectory) -> Iterator[Finding]:
    space = graph.space
    if space is None:
        return
    if space.free_bytes < GOOD_FREE_BYTES:
        seen = f"{space.free_bytes / _GIB:.1f} GiB are free for the store {graph.path}"
        yield Finding(
            message=f"{seen}; expected {GOOD_FREE_BYTES // _GIB} GiB, because one sandbox image has 1-5 GiB",
            severity=Severity.ERROR if space.free_bytes < MIN_FREE_BYTES else Severity.WARNING,
            remedy=_PRUNE,
        )
    if graph.file_system in _COUNTS_INODES and space.free_inodes < MIN_FREE_INODES:
        yield Finding(
            message=f"{space.free_inodes} inodes are free for the store {graph.path}; expected {MIN_FREE_INODES}",
            remedy=_PRUNE,
        )


_PRUNE = Remedy(
    kind=RemedyKind.RESET_STORE,
    summary="free space there or use another disk; this command deletes every image that no container uses",
    commands=("podman image prune --all --force",),
)
