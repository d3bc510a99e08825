"""Stands where Ray and multiprocessing start `python`: asks the fork server for a process that has imported everything.

Run as `python -IS launcher.py WORDS`, with the standard library alone. Without a copy it becomes `python WORDS`. With one it
stays: it passes signals on, and ends as the copy ends.
"""

import array
import contextlib
import json
import os
import select
import signal
import socket
import sys

SOCKET = "SKYRL_FORK_SERVER"
"""Names the server's socket, in the environment of all workers."""
MOST_FILES = 250
"""Linux sends at most 253 descriptors in one message."""
WAIT_S = 300.0
"""Of a server that is still importing."""
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main(words: "list[str]") -> None:
    server = None
    with contextlib.suppress(OSError, ValueError):
        server = asked(os.environ.get(SOCKET, ""), words)
    pid = copy_of(server) if server else 0
    if not (server and pid):
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 -- in its own place, with its open files
    end_as(waited(server, pid))


def asked(path: str, words: "list[str]") -> "socket.socket | None":
    """The connection on which all of this process was sent; None if there is no server."""
    if not path:
        return None
    files = [number for number in map(int, os.listdir("/proc/self/fd")) if is_inherited(number)]
    if len(files) > MOST_FILES:
        return None
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.settimeout(WAIT_S)
    server.connect(path)
    request = {"words": words, "environ": dict(os.environ), "directory": os.getcwd(), "files": files}
    text = json.dumps(request).encode("utf-8", "surrogateescape")
    first = b"%d\n" % len(text)
    server.sendmsg([first], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])
    server.sendall(text)
    return server


def is_inherited(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:  # the directory's own descriptor
        return False


def copy_of(server: socket.socket) -> int:
    """The id of the copy; 0 if the server refuses, or ends before it answers."""
    return number_from(server) or 0


def number_from(server: socket.socket) -> "int | None":
    """The number in the server's next line; None if it ends before."""
    answer = b""
    with contextlib.suppress(OSError):
        while not answer.endswith(b"\n"):
            heard = server.recv(1)  # a copy that ends at once has the line after it here already
            if not heard:
                return None
            answer += heard
        return int(answer)
    return None


def waited(server: socket.socket, pid: int) -> int:
    """The copy's status as waitpid tells it. A server that ended does not know it: then it is 1."""
    for number in PASSED_ON:
        signal.signal(number, lambda number, _frame: send(pid, number))
    server.settimeout(None)
    status = number_from(server)
    if status is not None:
        return status
    with contextlib.suppress(OSError):
        select.select([os.pidfd_open(pid)], [], [])
    return 1 << 8


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def end_as(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
