"""The paths of Ray's and vLLM's sockets. A Unix socket's path may have at most 107 bytes."""

import os
from collections.abc import Mapping

from skyrl_train.contracts.record import record
from skyrl_train.node.settings import Directory, Preparation, Setting

LIMIT_BYTES = 107
"""unix(7): sun_path holds 108 bytes including the final zero."""
RAY_VARIABLE = "RAY_TMPDIR"
VLLM_VARIABLE = "VLLM_RPC_BASE_PATH"
PID_DIGITS = 7
"""Digits of Linux's largest process id, 4194304."""

_SESSION = "session_2026-01-31_23-59-59_123456_"
_UUID_LENGTH = 36


@record
class Socket:
    """The longest socket path of a program, and the variable that decides its `base` directory."""

    program: str
    base: str
    source: str
    path: str
    variable: str

    @property
    def length(self) -> int:
        return len(os.fsencode(self.path))


def ray_socket(environ: Mapping[str, str], *, pid_digits: int = PID_DIGITS) -> Socket:
    """Ray's socket: ray/session_…_PID/sockets/plasma_store in $RAY_TMPDIR, else $TMPDIR, else /tmp. Empty counts as set."""
    source = next((name for name in (RAY_VARIABLE, "TMPDIR") if name in environ), "")
    base = environ[source] if source else "/tmp"  # noqa: S108 -- Ray's own default
    session = _SESSION + "9" * pid_digits
    return Socket("Ray", base, source, os.path.join(base, "ray", session, "sockets", "plasma_store"), RAY_VARIABLE)


def vllm_socket(environ: Mapping[str, str]) -> Socket:
    """vLLM's socket: a UUID in $VLLM_RPC_BASE_PATH, else in Python's temporary directory."""
    if VLLM_VARIABLE in environ:
        source, base = VLLM_VARIABLE, environ[VLLM_VARIABLE]
    else:
        source = next((name for name in ("TMPDIR", "TEMP", "TMP") if environ.get(name)), "")
        base = environ[source] if source else "/tmp"  # noqa: S108 -- Python's own default
    return Socket("vLLM", base, source, f"{base}/{'f' * _UUID_LENGTH}", VLLM_VARIABLE)


def short_directory(*, uid: int, job_id: str | None) -> str:
    """A directory of this job with a name that is short enough for all sockets."""
    return f"/tmp/r{job_id}" if job_id else f"/tmp/r-{uid}"  # noqa: S108 -- local and short on every Linux


def socket_settings(environ: Mapping[str, str], *, uid: int, job_id: str | None) -> Preparation:
    """Settings that move a socket if its path would be too long."""
    directory = short_directory(uid=uid, job_id=job_id)
    settings = tuple(
        Setting(
            name=socket.variable,
            value=directory,
            cures="ENV006",
            why=f"the path of {socket.program}'s socket would have {socket.length} bytes, but the limit is {LIMIT_BYTES}",
        )
        for socket in (ray_socket(environ), vllm_socket(environ))
        if socket.length > LIMIT_BYTES  # FIX(ENV006)
    )
    return Preparation(settings=settings, directories=(Directory(path=directory),) if settings else ())
