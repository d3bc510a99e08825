"""A child program: makes sockets in the networks of containers, stops or continues their processes, and counts what they hold.

It enters the user namespace of the containers, where it may do both. There is no way back, hence a separate process. It
reads requests from its standard input, a packet socket, and ends when that is closed. Standard library only; Python 3.8.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any

USER, NETWORK = 0x10000000, 0x40000000
_ROUNDS = 5
GET_PIPE_SIZE = 1032
PAGE = os.sysconf("SC_PAGE_SIZE")
SHARED = {
    "descriptors": "open descriptors",
    "inotify": "instances of inotify",
    "pipe_pages": "pages of memory for pipes",
}
LARGEST_PACKET = 65536
_CALLER = "127.0.0.2"
_BIND_ADDRESS_NO_PORT = 24


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
    """Makes a socket in the network of a process.

    It has an address of its own. One without connects to itself where nothing listens yet and the kernel gives it the very
    port that it asks for; whoever wants to listen there finds the port in use.
    """
    enter_user_namespace(pid)
    enter(f"/proc/{pid}/ns/net", NETWORK)
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with contextlib.suppress(OSError):  # a network that is still without its loopback
        made.setsockopt(socket.IPPROTO_IP, _BIND_ADDRESS_NO_PORT, 1)
        made.bind((_CALLER, 0))
    return made


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


def enforce(request: dict[str, Any]) -> dict[str, str]:
    """Kills the processes that hold most of what exceeds a container's share: nothing can be hidden from this one."""
    of_namespace = {}
    for pid in request["pids"]:
        with contextlib.suppress(OSError):
            enter_user_namespace(pid)
            of_namespace[os.readlink(f"/proc/{pid}/ns/pid")] = pid
    members_of: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            first = of_namespace.get(os.readlink(f"/proc/{entry}/ns/pid")) if entry.isdigit() else None
            if first is not None and first != int(entry):
                members_of.setdefault(first, []).append(int(entry))
    return {str(first): text for first, pids in members_of.items() for text in [hold(pids, request)] if text}


def hold(pids: list[int], request: dict[str, Any]) -> str:
    """Counts the descriptors of a container's processes; what was done, if anything."""
    counts: dict[str, dict[int, int]] = {name: {} for name in SHARED}
    seen: set[str] = set()
    for pid in pids:
        own = count_descriptors(pid, seen, request["descriptors"])
        for name, number in own.items():
            counts[name][pid] = number
    for name, what in SHARED.items():
        total, most = sum(counts[name].values()), request[name]
        if most and total > most:
            killed = kill_largest(counts[name], total - most)
            return f"{total} {what}, more than this sandbox's share of {most}; processes killed: {killed}"
    return ""


def kill_largest(counts: dict[int, int], excess: int) -> int:
    """Kills processes, those that hold most first, until the rest is within the share."""
    killed = 0
    for pid in sorted(counts, key=lambda pid: -counts[pid]):
        if excess <= 0:
            break
        excess -= counts[pid]
        killed += 1
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return killed


def count_descriptors(pid: int, seen: set[str], most: int) -> dict[str, int]:
    """Each pipe and instance is counted once, and no more descriptors than the limit."""
    found = dict.fromkeys(SHARED, 0)
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            found["descriptors"] += 1
            if found["descriptors"] > most:
                break
            with contextlib.suppress(OSError):
                count_shared(entry.path, seen, found)
    return found


def count_shared(path: str, seen: set[str], found: dict[str, int]) -> None:
    target = os.readlink(path)
    if target == "anon_inode:inotify":
        found["inotify"] += 1
    elif target.startswith("pipe:") and target not in seen:
        seen.add(target)
        found["pipe_pages"] += pages_of_pipe(path)


def pages_of_pipe(path: str) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return fcntl.fcntl(descriptor, GET_PIPE_SIZE) // PAGE
    finally:
        os.close(descriptor)


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
        if request["do"] == "enforce":
            return {"done": enforce(request)}, None
        number = signal.SIGSTOP if request["do"] == "stop" else signal.SIGCONT
        return {"signalled": signal_all(request["pid"], number)}, None
    except OSError as error:
        return {"error": str(error), "errno": error.errno}, None


def main() -> int:
    with socket.socket(fileno=os.dup(0)) as channel:
        while True:
            packet = channel.recv(LARGEST_PACKET)
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
