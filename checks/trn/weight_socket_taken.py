"""Another run of the node uses the socket over which verl sends weights to vLLM.

## What it does
Looks for `/tmp/rl-colocate-zmq-JOB-replica-R-rank-K.sock`. A file that another user left there is an error if this run will
need its name, and a warning if that depends on the Ray cluster, the nodes or verl's version. A socket in use means that
another run syncs on this node at this moment, which is a warning for plain verl. `skyrl-doctor diagnose` finds verl's error.

## Why it breaks training
verl 0.8 and later name the socket by the Ray job id, which is 01000000 in each Ray cluster that a run starts for itself.
So all runs that share `/tmp` have the same name. Two runs of one user that sync at the same time replace each other's
socket: vLLM gets the weights of the other run, or both wait until their time limit. A file of another user cannot be removed
in `/tmp`, so `bind` fails with "Address already in use", while that run syncs or, if it was killed in a sync, for ever.

## How to fix
Ask the owner or the administrators to remove the file. To avoid the failure, give each job its own `/tmp`: Slurm's
`job_container/tmpfs` plugin, or a container with a private `/tmp`. `skyrl-train` runs of a node take turns to sync
(`skyrl_train/rl/sync_turn.py`); with plain verl run one job at a time in one `/tmp`.

## Example
    zmq.error.ZMQError: Address already in use (addr='ipc:///tmp/rl-colocate-zmq-01000000-replica-0-rank-0.sock')
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.facts.weight_sockets import WeightSocket, WeightSockets
from skyrl_doctor.plan.findings import required
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.ray import ADDRESS, starts_own_cluster

SIGNATURES = (
    Signature(
        pattern=r"ZMQError: (?:Address already in use|Permission denied|Operation not permitted) \(addr='ipc:///tmp/rl-colocate-zmq-(?P<name>[\w-]{1,80})\.sock'\)",
        sample="zmq.error.ZMQError: Address already in use (addr='ipc:///tmp/rl-colocate-zmq-01000000-replica-0-rank-0.sock')",
        explain="verl could not send weights to vLLM: /tmp/rl-colocate-zmq-{name}.sock belongs to another run, which syncs or was killed in a sync",
        remedy="Find its owner with `ls -l /tmp/rl-colocate-zmq-*.sock`. If no run of that user is on this node, ask the owner or the administrators to remove it. Give each job its own `/tmp` (Slurm's `job_container/tmpfs`).",
        versions="verl 0.7.1-0.9.1, pyzmq",
    ),
)

FIRST_JOB = "01000000"
"""Ray's id of the first job of a cluster."""

NAMED_BY_JOB = "0.8"
"""The first verl that names the socket by the Ray job; 0.7.1 names it by the GPU."""

OWN, VERL = "run-config", "verl"
ENGINE, NODES, PER_NODE = "rollout.engine", "slurm.nodes", "slurm.gpus_per_node"


@check("TRN023", roles=[Role.GPU], fix="skyrl_train/rl/sync_turn.py")
def weight_socket_taken(
    plan: Plan, sockets: WeightSockets, host: Host, environ: Environ, interpreter: Interpreter | None
) -> Iterator[Finding]:
    if not required(plan).is_of(OWN, VERL) or (plan.text(ENGINE) or "vllm") != "vllm":
        raise NotApplicable("the configuration sends no weights from verl to vLLM")
    verl = None if interpreter is None else interpreter.packages.get("verl")
    if verl is not None and not _names_by_job(verl):
        raise NotApplicable(f"verl {verl} names the socket by the GPU")
    joins = bool(environ.get(ADDRESS)) and not starts_own_cluster(environ)
    single = (plan.integer(NODES) or 1) == 1
    most = plan.integer(PER_NODE) if single else None
    for uid, files in _by_owner(sockets.files, joins=joins).items():
        left = [
            one for one in files if not one.is_live and _may_need(one, most) and sockets.is_kept_from(host.uid, one)
        ]
        if left:
            is_first = (left[0].replica, left[0].rank) == (0, 0)
            is_certain = is_first and verl is not None and single and not joins
            yield _left(uid, left, Severity.ERROR if is_certain else Severity.WARNING)
        live = [one for one in files if one.is_live]
        if live and not plan.is_of(OWN):
            yield _live(uid, live)


def _by_owner(files: tuple[WeightSocket, ...], *, joins: bool) -> dict[int, list[WeightSocket]]:
    """The files of each user that this run may need. A run that starts its own Ray cluster is the first job of it."""
    found: dict[int, list[WeightSocket]] = {}
    for file in sorted(files, key=lambda file: (file.replica, file.rank)):
        if joins or file.job == FIRST_JOB:
            found.setdefault(file.uid, []).append(file)
    return found


def _names_by_job(verl: str) -> bool:
    from packaging.version import InvalidVersion, Version  # only where verl is installed

    try:
        return Version(verl) >= Version(NAMED_BY_JOB)
    except InvalidVersion:
        return True


def _may_need(file: WeightSocket, gpus: int | None) -> bool:
    """Whether a run has this replica and rank: each has a GPU of its own. `gpus` is None if they are not known."""
    return gpus is None or (file.replica < gpus and file.rank < gpus)


def _left(uid: int, files: list[WeightSocket], severity: Severity) -> Finding:
    when = "" if severity is Severity.ERROR else ", if this run uses the same name"
    return Finding(
        message=f"{_first(files)} belongs to uid {uid}: no process uses it and this user cannot remove it, so verl fails in its first weight sync{when}; expected no such file",
        evidence=tuple(file.path for file in files),
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.ASK_ADMIN,
            summary=f"ask uid {uid} or the administrators to remove /tmp/rl-colocate-zmq-*.sock, or to give each job its own /tmp (Slurm's job_container/tmpfs)",
        ),
    )


def _live(uid: int, files: list[WeightSocket]) -> Finding:
    return Finding(
        message=f"{_first(files)} is in use by uid {uid}: another run of this node syncs weights over a socket of the same name as this run's; expected one run of verl in one /tmp",
        evidence=tuple(file.path for file in files),
        severity=Severity.WARNING,
        remedy=Remedy(
            kind=RemedyKind.RETRY,
            summary="start after that run has ended, on another node, or with a /tmp of its own (Slurm's job_container/tmpfs)",
        ),
    )


def _first(files: list[WeightSocket]) -> str:
    return files[0].path if len(files) == 1 else f"{files[0].path} (and {len(files) - 1} more)"
