"""The run would join a foreign Ray cluster or wait for one that has ended.

## What it does
Reads `RAY_ADDRESS` and the file `ray_current_cluster` in Ray's temporary directory (`ray` below `$RAY_TMPDIR`, else
`$TMPDIR`, else `/tmp`), and finds out which user listens on the port that they name. With `RAY_ADDRESS=auto` and no
such file it looks for Ray's control server among the processes of this node. Checks that Ray may write into that
directory, and whether another user or job holds the default ports of `ray start --head`. A cluster of this user in
this job is fine.

## Why it breaks training
`ray.init()` without an address uses the variable first, then the file. It joins the cluster of another user or of
another job, which has other versions and not this job's GPUs, or it waits two minutes for a cluster that has ended.
With an empty or unreadable file it fails at once.

## How to fix
Unset `RAY_ADDRESS` and give Ray a directory that only this job uses (`skyrl-doctor env` does both). `ray start
--head` needs its own `--port` too. Remove your own stale file.

## Example
    RuntimeError: Version mismatch: The cluster was started with:
        Ray: 2.12.0
    ValueError: Total available GPUs 0 is less than total desired GPUs 1
    rpc_client.h:153: Failed to connect to GCS at address 10.1.2.3:6379 within 5 seconds.
"""

import shlex
from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.ray_clusters import Address, AddressFile, RayClusters, parse_address
from skyrl_doctor.facts.sockets import Listeners, Socket
from skyrl_train.node.ray import ADDRESS, CLIENT_PORT, DEFAULT_PORT, ray_settings, starts_own_cluster
from skyrl_train.node.ray_cluster import ports
from skyrl_train.node.ray_tmp import RAY_VARIABLE, short_directory

CAUSE = "the job met a Ray cluster of another job or another user on the same node"

SIGNATURES = (
    Signature(
        pattern=r"\bCould not find any running Ray instance\b",
        sample="ConnectionError: Could not find any running Ray instance. Please specify the one to connect to by setting `--address` flag or `RAY_ADDRESS` environment variable.",
        explain="the process was to join a Ray cluster, and none runs on this node for this user",
        remedy='Start Ray first (`ray start --head` in the same job), or take `address="auto"` and RAY_ADDRESS away: then the process starts its own. With `--temp-dir`, name the same directory in both.',
        versions="ray",
    ),
    Signature(
        pattern=r"\bCan't find a `node_ip_address\.json` file from (?P<session>/\S{1,200}?)\. ",
        sample="2026-03-19 14:58:50,134 INFO node.py:1084 -- Can't find a `node_ip_address.json` file from /tmp/ray/session_2026-03-19_14-26-07_915096_1. Have you started Ray instance using `ray start` or `ray.init`?",
        explain="the process waits for Ray's session {session}, which is not on this node: RAY_ADDRESS names a cluster that no `ray start` of this node joined",
        remedy="Run `ray start --address=HEAD:PORT` on this node first, or take RAY_ADDRESS away. From a machine outside the cluster use `ray job submit`.",
        versions="ray",
        at_least=2,
    ),
    Signature(
        pattern=r"[Vv]ersion mismatch: (?:[Tt]he )?cluster was started with",
        sample="RuntimeError: Version mismatch: The cluster was started with:",
        explain="the job joined a Ray cluster that another environment or another user had started",
        versions="ray",
    ),
    Signature(
        pattern=r"Session name \S{1,80} does not match persisted value",
        sample="AssertionError: Session name session_2026-03-02_09-14-03_1 does not match persisted value b'session_2026-03-01_10-00-00_7'. Perhaps there was an error connecting to Redis.",
        explain=CAUSE,
        versions="ray",
    ),
    Signature(
        pattern=r"Ray is trying to start at .{0,60}but is already running|Found multiple active Ray instances|Failed to start the grpc server\. The specified port|num_cpus and num_gpus must not be provided|is trying to use a port number \d+ that is used by other",
        sample="ConnectionError: Ray is trying to start at 10.0.0.7:6379, but is already running at 10.0.0.7:6379. Please specify a different port using the `--port` flag of `ray start` command.",
        explain=CAUSE,
        versions="ray",
    ),
    Signature(
        pattern=r"\bFailed to get cluster ID from GCS server: TimedOut\b|\bFailed to connect to GCS at address \S{3,80} within \d|\bRuntimeError: Failed to connect to GCS\.|\bRpcError: Timed out while waiting for GCS to become available\b",
        sample="[2026-03-02 09:14:36,552 W 812 812] gcs_client.cc:178: Failed to get cluster ID from GCS server: TimedOut: Timed out while waiting for GCS to become available.",
        explain="no Ray cluster answers at the address that `ray.init` or `ray start` was given",
        remedy="The line above it has the address. The cluster of an earlier job: unset RAY_ADDRESS, run `ray stop` and remove the file `ray_current_cluster` below Ray's temporary directory (`/tmp/ray`). This job's own head: start `ray start --head` first and wait for it; an address that begins with `:` means that the variable with the head's name is empty.",
        versions="ray",
        last_resort=True,
    ),
    Signature(
        pattern=r"Permission denied: '/tmp/ray|[Pp]ort \d+ (?:is )?already (?:in use|taken|used).{0,60}(?:ray|gcs|redis)",
        sample="PermissionError: [Errno 13] Permission denied: '/tmp/ray/session_2026-03-02_09-14-03_1'",
        explain=CAUSE,
        versions="ray",
    ),
    Signature(
        pattern=r"\bnode\.py:\d{1,5} -- ERROR as\b",
        near=r"Connecting to existing Ray cluster at address: ",
        within=40,
        sample="2026-03-02 09:20:17,508 ERROR node.py:1296 -- ERROR as",
        explain="Ray finds no control service at the address that it was given",
        remedy="Use the address and port that `ray start --head` printed (6379 by default). Port 10001 is of Ray Client: write `ray://HOST:10001`. Remove `RAY_ADDRESS` to start a cluster of this job.",
        versions="ray 1",
        at_least=2,
    ),
    Signature(
        pattern=r"\bConnectionError: ray client connection timeout\b",
        sample="ConnectionError: ray client connection timeout",
        explain="no Ray cluster answers at the address that the run connects to",
        remedy="Compare the address (`ray://HOST:10001`, `RAY_ADDRESS`) with that of the running cluster (`ray status` on its node), and look whether the node reaches this port.",
        versions="ray",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:another|other|existing|foreign|different|stale)\b.{0,20}\bray\b.{0,20}(?:instance|cluster|head|session).{0,60}(?:running|in use|found|exists|belongs|started)|\bray\b.{0,60}\bport \d+\b.{0,30}(?:in use|taken|used)",
    sample="RuntimeError: another Ray instance is already running on this node (port 6379 in use)",
    explain=CAUSE,
    versions="any",
)

DEFAULT_PORTS = {DEFAULT_PORT: "--port", CLIENT_PORT: "--ray-client-server-port"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@record
class Scene:
    """All that a judgement needs."""

    clusters: RayClusters
    listeners: Listeners
    environ: Environ
    host: Host

    @property
    def job_id(self) -> str | None:
        return self.environ.get("SLURM_JOB_ID") or None

    @property
    def has_own_cluster(self) -> bool:
        return self.clusters.of_job(self.job_id, self.host.uid)

    def owner(self, uid: int) -> str:
        return "this user" if uid == self.host.uid else f"another user (uid {uid})"

    def whose(self, uid: int) -> str:
        return (
            f"this user ({self.host.user}), but of another job or of none"
            if uid == self.host.uid
            else f"another user (uid {uid})"
        )


@check("ENV009", roles=[Role.GPU], fix="skyrl_train/node/ray.py")
def foreign_ray_cluster(clusters: RayClusters, listeners: Listeners, environ: Environ, host: Host) -> Iterator[Finding]:
    scene = Scene(clusters, listeners, environ, host)
    if clusters.closed is not None:
        yield _shut_out(clusters.closed, scene)
    address = environ.get(ADDRESS, "")
    if starts_own_cluster(environ):
        return
    if address and address != "auto":
        yield from _named(address, scene)
    elif clusters.file is not None:
        yield from _left(clusters.file, scene)
    elif address:
        yield from _looked_for(scene)
    for port, option in DEFAULT_PORTS.items():
        yield from _default_port(port, option, scene)


def _shut_out(directory: AddressFile, scene: Scene) -> Finding:
    """Ray makes a session there whichever cluster it joins."""
    owner = "an unknown user" if directory.uid is None else scene.owner(directory.uid)
    return _finding(
        f"{directory.path}, owned by {owner}, is not writable, so Ray cannot create a session there",
        Severity.ERROR,
        scene,
    )


def _named(text: str, scene: Scene) -> Iterator[Finding]:
    address = parse_address(text)
    if address is None:
        seen = f"{ADDRESS}={text} is not host:port, and ray.init() raises ValueError"
        yield _finding(seen, Severity.ERROR, scene)
        return
    socket = _listener(address, scene)
    if socket is not None and socket.uid == scene.host.uid and scene.has_own_cluster:
        return
    if socket is not None:
        seen = f"{ADDRESS}={text} leads to a cluster of {scene.whose(socket.uid)}"
        yield _finding(seen, Severity.ERROR if socket.uid != scene.host.uid else Severity.WARNING, scene)
    elif _is_here(address, scene):
        seen = f"{ADDRESS}={text} names this node, but no process listens on port {address.port}"
        yield _finding(seen, Severity.ERROR, scene)
    else:
        yield _finding(f"{ADDRESS}={text}: the run will join that cluster", Severity.WARNING, scene)


def _left(file: AddressFile, scene: Scene) -> Iterator[Finding]:
    is_own = file.uid == scene.host.uid
    owner = "this user" if is_own else "an unknown user" if file.uid is None else f"another user (uid {file.uid})"
    start = f"{file.path}, owned by {owner},"
    address = parse_address(file.address) if file.address is not None else None
    if file.address is None or address is None:
        what = "cannot be read" if file.address is None else f"contains {file.address[:80]!r}, which is not host:port"
        yield _finding(f"{start} {what}, and ray.init() raises", Severity.ERROR, scene)
        return
    socket = _listener(address, scene)
    if socket is not None and socket.uid == scene.host.uid and scene.has_own_cluster:
        return
    if socket is None:
        what = f"names {address}, but no process listens there on this node: ray.init() waits for it and fails"
        yield _finding(f"{start} {what}", Severity.ERROR, scene)
        return
    severity = Severity.WARNING if is_own and socket.uid == scene.host.uid else Severity.ERROR
    yield _finding(f"{start} names {address}, a cluster of {scene.whose(socket.uid)}", severity, scene)


def _looked_for(scene: Scene) -> Iterator[Finding]:
    """RAY_ADDRESS=auto without a file: ray.init() takes any control server that it sees, or raises."""
    servers = [process for process in scene.clusters.processes or () if process.name == "gcs_server"]
    if not servers:
        seen = f"{ADDRESS}=auto, but no Ray cluster was found on this node: ray.init() raises ConnectionError"
        yield _finding(seen, Severity.WARNING, scene)
        return
    others = [server for server in servers if server.uid != scene.host.uid]
    if others or not scene.has_own_cluster:
        first = (others or servers)[0]
        seen = f"{ADDRESS}=auto, and process {first.pid} is the control server of {scene.whose(first.uid)}"
        yield _finding(seen, Severity.ERROR if others else Severity.WARNING, scene)


def _default_port(port: int, option: str, scene: Scene) -> Iterator[Finding]:
    socket = scene.listeners.on(port)
    if socket is None or (socket.uid == scene.host.uid and scene.has_own_cluster):
        return
    own, client = next(ports(scene.job_id or str(scene.host.uid)))
    yield Finding(
        message=f"port {port} of this node is used by {scene.whose(socket.uid)}, so `ray start --head` without {option} fails; expected a port that only this job uses",
        severity=Severity.INFO,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="only if the job runs `ray start`: give it its own ports",
            commands=(f"ray start --head --port={own} --ray-client-server-port={client}",),
        ),
    )


def _listener(address: Address, scene: Scene) -> Socket | None:
    if _is_here(address, scene):
        return scene.listeners.on(address.port)
    return scene.listeners.on(address.port, address.host)


def _is_here(address: Address, scene: Scene) -> bool:
    own = scene.host.name.lower()
    return address.host.lower() in (*_LOOPBACK, own, own.partition(".")[0])


def _finding(seen: str, severity: Severity, scene: Scene) -> Finding:
    prepared = ray_settings(scene.environ, uid=scene.host.uid, job_id=scene.job_id)
    mine = [setting for setting in prepared.settings if setting.cures == "ENV009"]
    commands = tuple(f"unset {setting.name}" for setting in mine if setting.value is None)
    stale = scene.clusters.file if not mine and severity is Severity.ERROR else None
    settings = {setting.name: setting.value for setting in mine if setting.value is not None}
    if stale is not None and stale.uid == scene.host.uid:
        commands = (f"rm {shlex.quote(stale.path)}",)
    elif not mine:
        settings = {RAY_VARIABLE: short_directory(uid=scene.host.uid, job_id=scene.job_id)}
    return Finding(
        message=f"{seen}; expected {ADDRESS} unset and a Ray directory of this job, so that ray.init() starts its own cluster",
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="start a cluster that only this job uses",
            commands=commands,
            settings=settings,
            safe=bool(settings or mine),
        ),
    )
