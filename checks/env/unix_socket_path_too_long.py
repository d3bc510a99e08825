"""The path of Ray's or vLLM's Unix socket exceeds 107 bytes.

## What it does
Builds the longest socket path that Ray makes from `$RAY_TMPDIR`, else `$TMPDIR`, else `/tmp`, and the one that vLLM
makes from `$VLLM_RPC_BASE_PATH`, else the temporary directory, and counts their bytes.

## Why it breaks training
A Unix socket's path may have at most 107 bytes. Ray adds 66 to 68 of them (`ray/session_…/sockets/plasma_store`),
vLLM 37. A job directory deep on a shared disk leaves too few, and Ray does not start.

## How to fix
Set `RAY_TMPDIR` to something short on a local disk, such as `/tmp/r$SLURM_JOB_ID`; `skyrl-doctor env` prints it.

## Example
    OSError: validate_socket_filename failed: AF_UNIX path length cannot exceed 107 bytes: '/scratch/…/sockets/plasma_store'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_train.node.ray_tmp import LIMIT_BYTES, Socket, ray_socket, socket_settings, vllm_socket

CAUSE = "the path of the temporary directory is too long for a socket"

RAY = "Set `RAY_TMPDIR` to a short path on a local disk, such as `/tmp/r$UID`, before Ray starts."
ANY = "Set `TMPDIR` to a short path on a local disk, such as `/tmp/$USER`, before the program starts."
PODMAN = "Give Podman short directories on a local disk: `XDG_RUNTIME_DIR=/tmp/run-$UID` and `podman --root /tmp/$USER/s --runroot /tmp/$USER/r`."

SIGNATURES = (
    Signature(
        pattern=r"AF_UNIX path (?:length cannot exceed|too long)",
        sample="OSError: validate_socket_filename failed: AF_UNIX path length cannot exceed 107 bytes: '/net/scratch/slurm/1355700/tmp.t0016/ray/session_2026-01-01_10-00-00_000000_1/sockets/plasma_store'",
        explain="the path of Ray's temporary directory is too long for a socket",
        remedy=RAY,
        versions="ray",
    ),
    Signature(
        pattern=r"ipc path .{0,300}longer than \d+ characters|sizeof\(sockaddr_un\.sun_path\)",
        sample='zmq.error.ZMQError: ipc path "/net/scratch/jobs/1355700/tmp.t0016/5f0d1c" is longer than 107 characters (sizeof(sockaddr_un.sun_path)).',
        explain="the path of vLLM's socket is too long",
        remedy="Set `VLLM_RPC_BASE_PATH` to a short path on a local disk, such as `/tmp`, before vLLM starts.",
        versions="vllm, pyzmq",
    ),
    Signature(
        pattern=r"(?:\b(?:libpod|containers|conmon|podman)\b.{0,300}\btoo long|\brun ?root is longer than \d+ characters)",
        sample="Error: unix socket path /net/scratch/jobs/1355700/run/libpod/socket/ab12/attach is too long",
        explain="the path of Podman's run directory is too long for a socket",
        remedy=PODMAN,
        versions="podman",
    ),
    Signature(
        pattern=r"\b[Ss]ocket (?:path|name|path ?name|file ?name)\b.{0,300}(?:too long|longer than|exceeds)|\bunix socket.{0,200}too long|\b[Uu]nix socket name exceeded maximum length|\brun ?root is longer than \d+ characters|\.sock\S{0,80} .{0,40}File name too long",
        sample="Error: unix socket path /net/scratch/jobs/1355700/run/socket/ab12/attach is too long",
        explain=CAUSE,
        remedy=ANY,
        versions="podman, ray",
    ),
    Signature(
        pattern=r"\b(?:listen|dial) unix \S{100,400}: (?:bind|connect): invalid argument",
        sample="Error: unable to listen: listen unix /net/scratch/projects/agents-of-the-group/slurm/jobs/1355700/tmp.t0016/run/containers/storage/podman/podman.sock: bind: invalid argument",
        explain="the path of a socket is too long; in a program of Podman, that of its run directory",
        remedy=PODMAN,
        versions="go",
    ),
    Signature(
        pattern=r"[Pp]ath name should not have more than \d+ characters|File name too long.{0,300}(?:/sockets?/|\.sock\b)|(?:/tmux-\d{1,10}/|/sockets?/|\.sock\b).{0,80}File name too long",
        sample="OSError: [Errno 36] File name too long: '/scratch/a/ray/session_1/sockets/raylet'",
        explain=CAUSE,
        remedy=f"{ANY} For Ray: {RAY}",
        versions="grpc, tmux, ray",
    ),
    Signature(
        pattern=r"(?:system_error\S{0,10}|what\(\)).{0,40}File name too long",
        sample="  what():  File name too long",
        explain=CAUSE,
        remedy=RAY,
        versions="ray, boost",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bsocket\b.{0,200}\btoo long\b|\btoo long\b.{0,80}\bsocket\b",
    sample="OSError: path of the raylet's socket is too long (131 > 107)",
    explain=CAUSE,
    remedy=ANY,
    versions="any",
)


@check("ENV006", roles=[Role.GPU], fix="skyrl_train/node/ray_tmp.py")
def unix_socket_path_too_long(environ: Environ, host: Host) -> Iterator[Finding]:
    prepared = socket_settings(environ, uid=host.uid, job_id=environ.get("SLURM_JOB_ID"))
    moves = {setting.name: setting.value for setting in prepared.settings if setting.value is not None}
    # Ray's path holds its driver's process id: this process's tells how long such a number is now.
    now, longest = ray_socket(environ, pid_digits=len(str(host.pid))), ray_socket(environ)
    if now.length > LIMIT_BYTES:
        yield _finding(now, Severity.ERROR, moves)
    elif longest.length > LIMIT_BYTES:
        yield _finding(longest, Severity.WARNING, moves)
    vllm = vllm_socket(environ)
    if vllm.length > LIMIT_BYTES:
        yield _finding(vllm, Severity.ERROR, moves)


def _finding(socket: Socket, severity: Severity, moves: dict[str, str]) -> Finding:
    source = f"{socket.source}={socket.base}" if socket.source else socket.base
    may = "will have" if severity is Severity.ERROR else "may have"
    return Finding(
        message=f"a socket of {socket.program} {may} a path of {socket.length} bytes ({source}); expected at most {LIMIT_BYTES}",
        evidence=(socket.path,),
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary=f"set {socket.variable} to a short local directory of this job",
            commands=(f"mkdir -p -m 700 {moves[socket.variable]}",),
            settings={socket.variable: moves[socket.variable]},
            safe=True,
        ),
    )
