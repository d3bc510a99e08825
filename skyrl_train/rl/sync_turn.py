"""Weight syncs of one node take turns, since verl 0.9.1 gives the socket of every run the same name. FIX(TRN023)

It is /tmp/rl-colocate-zmq-JOB-replica-R-rank-K.sock, and JOB is 01000000 in each Ray cluster that a run starts for itself.
The turn is an abstract Unix socket: it needs no file, is the same for all users, and the kernel frees it when its process
ends. It does not join containers that have a network of their own and share /tmp, nor the other nodes of a run.
"""

import contextlib
import errno
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator

NAME = "\0skyrl-train-weight-sync"
BACKLOG = 64
"""How many other runs can wait. More ask again after MOMENT_S."""

MOMENT_S = 0.1
_PEER = struct.Struct("iII")  # pid, uid, gid of ucred in unix(7)


@contextlib.contextmanager
def sync_turn(limit_s: float, say: Callable[[str], None], name: str = NAME) -> Iterator[None]:
    """Waits until no other run of this node syncs. After `limit_s` it goes on without a turn, and says so."""
    held = _wait(limit_s, say, name)
    try:
        yield
    finally:
        if held is not None:
            held.close()


def _wait(limit_s: float, say: Callable[[str], None], name: str) -> socket.socket | None:
    end = time.monotonic() + limit_s
    has_said = False
    while (held := _take(name)) is None:
        left_s = end - time.monotonic()
        if left_s <= 0:
            say(
                f"another run of this node still syncs weights after {limit_s:.0f} s; syncing at the same time (TRN023)"
            )
            return None
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as other:
            holder = _holder(other, name)
            if not has_said and holder is not None:
                say(f"another run of this node ({holder}) syncs weights; waiting for at most {limit_s:.0f} s")
                has_said = True
            if holder is None:
                time.sleep(min(MOMENT_S, left_s))  # it ended just now, does not listen yet, or too many wait
            else:
                select.select([other], [], [], left_s)  # readable once the holder closes its socket or dies
    return held


def _take(name: str) -> socket.socket | None:
    """The socket that holds the turn, or None if another process holds it."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(name)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return made


def _holder(other: socket.socket, name: str) -> str | None:
    """The holder's process and user, once connected to it; None if it cannot be reached now."""
    try:
        other.connect(name)
    except (ConnectionRefusedError, BlockingIOError):
        return None
    pid, uid, _gid = _PEER.unpack(other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return f"process {pid} of uid {uid}" if pid else f"a process of uid {uid}"  # 0: of another pid namespace
