"""Imports once, and then forks a copy for each launcher. Run as `python -m skyrl_train.rl.forks.server PROGRAM SOCKET PIPE FIRST THEN`.

SOCKET and PIPE are numbers of open files. It imports FIRST, waits for a launcher, and imports THEN with the variables of that
one: Ray, verl and vLLM read theirs once. When the pipe closes the server ends. A copy whose launcher was killed is killed too.
"""

import array
import contextlib
import gc
import importlib
import multiprocessing
import os
import select
import selectors
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from skyrl_train.contracts.run_log import say
from skyrl_train.rl.forks import child
from skyrl_train.rl.forks.request import LARGEST, READ_AT_START, Request, changed, obstacle, read

HELLO_S = 10.0
Asked = tuple[Request, list[int]]
"""What a copy is to become, and the files that came with it."""
Arrived = tuple[socket.socket, Request, list[int]]


@dataclass(slots=True)
class Server:
    """Its copies by their ids, each with the connection to its launcher."""

    listening: socket.socket
    pipe: int
    imported: dict[str, str]
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    copies: dict[int, socket.socket] = field(default_factory=dict)

    def serve(self, first: Arrived) -> Asked | None:
        """To its end; in a copy, what the copy is to become."""
        woken, wakes = socket.socketpair()
        for one in (woken, wakes):
            one.settimeout(0)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        for heard in (self.listening, woken, self.pipe):
            self.selector.register(heard, selectors.EVENT_READ)
        asked, ended = self._copy(first), False
        while not (asked or ended):
            (key, _), *_ = self.selector.select()
            if key.fileobj == self.pipe:
                ended = True
            elif key.fileobj is woken:
                woken.recv(4096)
                self._reap()
            elif key.fileobj is self.listening:
                arrived = accepted(self.listening)
                asked = self._copy(arrived) if arrived else None
            else:
                self._hung_up(key.data)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (woken, wakes):
            one.close()
        return asked

    def _copy(self, arrived: Arrived) -> Asked | None:
        """Forks a copy for a launcher, or sends it away; in the copy, what it asked for."""
        launcher, request, received = arrived
        reason = obstacle(request, self.imported)
        try:
            pid = -1 if reason else os.fork()
        except OSError as error:
            reason, pid = str(error), -1
        if pid == 0:
            self._let_go(launcher)
            return request, received
        for number in received:
            os.close(number)
        if reason:
            say(f"a worker imports for itself: {reason}")
            launcher.close()
            return None
        self.copies[pid] = launcher
        self.selector.register(launcher, selectors.EVENT_READ, pid)
        with contextlib.suppress(OSError):
            launcher.sendall(b"%d\n" % pid)
        return None

    def _let_go(self, launcher: socket.socket) -> None:
        """In a copy: nothing of the server may be closed later, when its numbers belong to the copy's files."""
        self.selector.close()
        for one in (launcher, self.listening, *self.copies.values()):
            one.close()

    def _reap(self) -> None:
        while self.copies:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            launcher = self.copies.pop(pid, None)
            if launcher:
                self.selector.unregister(launcher)
                with contextlib.suppress(OSError):
                    launcher.sendall(b"%d\n" % status)
                launcher.close()

    def _hung_up(self, pid: int) -> None:
        """A launcher says nothing after its request: it was killed."""
        self.selector.unregister(self.copies[pid])
        self.copies.pop(pid).close()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def accepted(listening: socket.socket) -> Arrived | None:
    """The next launcher with its request; None if it does not make one."""
    launcher, _ = listening.accept()
    received: list[int] = []
    try:
        launcher.settimeout(HELLO_S)
        return launcher, _request(launcher, received), received
    except (OSError, ValueError) as error:
        say(f"a worker imports for itself: {error}")
        for number in received:
            os.close(number)
        launcher.close()
        return None


def _request(launcher: socket.socket, received: list[int]) -> Request:
    """ValueError or OSError if it is not one of ours, or not a whole one."""
    uid = struct.unpack("3i", launcher.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    if uid != os.getuid():
        raise ValueError(f"user {uid} asked")
    room = socket.CMSG_SPACE(256 * array.array("i").itemsize)
    text, sent, _, _ = launcher.recvmsg(65536, room)
    for level, kind, data in sent:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            received += array.array("i", data[: len(data) - len(data) % 4])
    length, found, rest = text.partition(b"\n")
    if not found or not length.isdigit() or int(length) > LARGEST:
        raise ValueError("not a request")
    while len(rest) < int(length):
        heard = launcher.recv(65536)
        if not heard:
            raise ValueError("a request that ended early")
        rest += heard
    request = read(rest)
    if len(received) != len(request.files):
        raise ValueError(f"{len(request.files)} files were announced and {len(received)} came")
    return request


class StartsCudaError(BaseException):
    """Not an Exception: a package that catches it would take this machine for one without a GPU."""


@contextlib.contextmanager
def without_cuda() -> Iterator[None]:
    """No copy survives CUDA that was started before it: a module that starts it while it is imported is left to the copies."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.cuda._lazy_init  # noqa: SLF001 -- every way to CUDA leads through it

    def refuse() -> None:
        raise StartsCudaError("it starts CUDA")

    torch.cuda._lazy_init = refuse  # noqa: SLF001
    try:
        yield
    finally:
        torch.cuda._lazy_init = before  # noqa: SLF001


def import_all(names: list[str]) -> None:
    """What cannot be imported here is left to the copies. A name that this version of a package lacks is none of ours."""
    for name in names:
        try:
            with without_cuda():
                importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not name.startswith(str(error.name)):
                say(f"not imported ahead: {name}: {error}")
        except (Exception, StartsCudaError) as error:  # noqa: BLE001 -- another package's import may raise anything
            say(f"not imported ahead: {name}: {error}")


def unfit() -> str:
    """Why this process must not be copied; empty if it may."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "an import has started CUDA"
    if threading.active_count() > 1:
        return "an import has started a thread"
    return ""


def first_arrived(listening: socket.socket, pipe: int) -> Arrived | None:
    """None if the pipe closes before."""
    while True:
        ready, _, _ = select.select([listening.fileno(), pipe], [], [])
        if pipe in ready:
            return None
        arrived = accepted(listening)
        if arrived:
            return arrived


def main(program: str, listening: socket.socket, pipe: int, first: list[str], then: list[str]) -> Asked | None:
    """To the server's end; in a copy, what it is to become."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # else a question about GPUs starts CUDA, which no copy survives
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as Ray sets it for each worker
    taken = child.reserve()
    before = dict(os.environ)
    import_all(first)
    arrived = first_arrived(listening, pipe)
    if arrived is None:
        return None
    if name := changed(arrived[1].environ, before, READ_AT_START):
        say(f"each worker imports for itself: {name} has another value than the driver's")
        return None
    imported = before | arrived[1].environ
    os.environ.update({name: value for name, value in arrived[1].environ.items() if before.get(name) != value})
    import_all(then)
    reason = unfit()
    if reason:
        say(f"each worker imports for itself: {reason}")
        return None  # the launchers find nobody, and are ordinary Pythons
    for number in taken:
        os.close(number)
    multiprocessing.set_executable(program)  # vLLM's engines are started by the copies
    gc.collect()
    gc.freeze()  # a copy that collects garbage would copy every page
    return Server(listening, pipe, imported).serve(arrived)


if __name__ == "__main__":
    _, program, *numbers, first, then = sys.argv
    listening, pipe = map(int, numbers)
    asked = main(program, socket.socket(fileno=listening), pipe, first.split(","), then.split(","))
    if asked:
        child.become(*asked)
        child.run(asked[0])
