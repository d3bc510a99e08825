"""A child program: makes sockets in the networks of containers, and stops or continues their processes.

It enters the user namespace of the containers, where it may do both. There is no way back, hence a separate process. It
reads requests from its standard input, a packet socket, and ends when that is closed. Standard library only; Python 3.8.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any

USER, NETWORK = 0x10000000, 0x40000000
_ROUNDS = 5


def enter(path: str, kind: int) -> None:
    """setns(2)."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(descriptor, kind):
            number = ctypes.get_errno()
            raise OSError(number, "setns: " + os.strerror(number), path)
    finally:
        os.close(descriptor)


def enter_user_namespace(pid: int) -> None:
    """Enters the containers' namespace; with a rootful engine it is our own."""
    path = f"/proc/{pid}/ns/user"
    if os.readlink(path) != os.readlink("/proc/self/ns/user"):
        enter(path, USER)


def connectable(pid: int) -> socket.socket:
    """Makes a socket in the network of a process."""
    enter_user_namespace(pid)
    enter(f"/proc/{pid}/ns/net", NETWORK)
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def signal_all(pid: int, number: int) -> int:
    """Signals every process of a container. New ones are found in the next round."""
    enter_user_namespace(pid)
    namespace = os.readlink(f"/proc/{pid}/ns/pid")
    signalled: set[int] = set()
    for _ in range(_ROUNDS):
        new = [each for each in members(namespace) if each not in signalled]
        if not new:
            break
        for each in new:
            signalled.add(each)
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, number)
    return len(signalled)


def members(namespace: str) -> Iterator[int]:
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit() and os.readlink(f"/proc/{entry}/ns/pid") == namespace:
                yield int(entry)


def answer(request: dict[str, Any]) -> tuple[dict[str, Any], socket.socket | None]:
    """The reply, and the socket to send with it."""
    try:
        if request["do"] == "connect":
            return {}, connectable(request["pid"])
        number = signal.SIGSTOP if request["do"] == "stop" else signal.SIGCONT
        return {"signalled": signal_all(request["pid"], number)}, None
    except OSError as error:
        return {"error": str(error), "errno": error.errno}, None


def main() -> int:
    with socket.socket(fileno=os.dup(0)) as channel:
        while True:
            packet = channel.recv(4096)
            if not packet:
                return 0
            request = json.loads(packet.decode())
            reply, made = answer(request)
            reply["number"] = request["number"]
            passed = [] if made is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [made.fileno()]))]
            channel.sendmsg([json.dumps(reply).encode()], passed)
            if made is not None:
                made.close()


if __name__ == "__main__":
    sys.exit(main())
