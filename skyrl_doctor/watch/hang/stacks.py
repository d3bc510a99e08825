"""The stack of a process: by py-spy, which reads its memory; or by faulthandler, where the job asked for it.

py-spy runs with --nonblocking: it neither stops the process nor runs code in it. A signal is sent only to a process that
named a directory for its stacks in SKYRL_STACKS_DIR, has its file there, and catches SIGUSR1.
"""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.hang.processes import JobProcess

LIMIT_S = 10.0
WAIT_S = 2.0
MOST_FRAMES, MOST_THREADS = 100, 200
FILE_BYTES = 1 << 20
DIRECTORY = "SKYRL_STACKS_DIR"
_CAUGHT = re.compile(r"^SigCgt:\s*([0-9a-f]{16})$", re.MULTILINE)
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+[^\n]*\(most recent call first\):$")
_FRAME = re.compile(r'^  File "([^"\n]{1,4000})", line (\d{1,9}|\?\?\?) in (.{1,400})$')


@record
class Frame:
    name: str
    file: str
    line: int = 0

    @property
    def text(self) -> str:
        return f"{self.name} ({'/'.join(self.file.split('/')[-3:])}:{self.line})"


@record
class Stack:
    """One thread; the frame that runs is the first."""

    thread: str
    frames: tuple[Frame, ...]


def stacks_of(machine: Machine, process: JobProcess, *, sleep: Callable[[float], None] = time.sleep) -> list[Stack]:
    """The stacks of all threads, the main thread first. Raises CouldNotLook."""
    spy = _py_spy(machine, process.python)
    why = "py-spy is not installed"
    if spy is not None:
        asked = machine.run((spy, "dump", "--nonblocking", "--json", "--pid", str(process.pid)), limit_s=LIMIT_S)
        if asked.ok:
            return parse_py_spy(asked.out)
        why = asked.why
    found = _by_signal(machine, process, sleep)
    if found is None:
        raise CouldNotLook(why)
    return found


def _py_spy(machine: Machine, python: str) -> str | None:
    """py-spy of the watch's own environment, of the path, or of the job's environment."""
    for directory in (os.path.dirname(sys.executable), "", os.path.dirname(python)):
        path = os.path.join(directory, "py-spy") if directory else machine.which("py-spy")
        if path and machine.exists(path):
            return path
    return None


def parse_py_spy(text: str) -> list[Stack]:
    """Raises CouldNotLook where the text is not py-spy's."""
    try:
        threads = json.loads(text)
        found = [
            Stack(
                str(thread["thread_name"] or ""),
                tuple(
                    Frame(str(frame["name"]), str(frame["short_filename"] or frame["filename"]), int(frame["line"]))
                    for frame in thread["frames"][:MOST_FRAMES]
                ),
            )
            for thread in threads[:MOST_THREADS]
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CouldNotLook("the output of py-spy is not what the watch reads") from None
    return sorted(found, key=lambda stack: stack.thread != "MainThread")


def parse_faulthandler(text: str) -> list[Stack]:
    """The last dump in a file: faulthandler appends. Its last thread is the main thread."""
    found: list[list[Frame]] = []
    for line in text.splitlines():
        if _THREAD.match(line):
            found.append([])
        elif found and (frame := _FRAME.match(line)) and len(found[-1]) < MOST_FRAMES:
            found[-1].append(Frame(frame[3], frame[1], int(frame[2]) if frame[2].isdecimal() else 0))
    return [
        Stack("MainThread" if not n else "", tuple(frames)) for n, frames in enumerate(reversed(found[-MOST_THREADS:]))
    ]


def _by_signal(machine: Machine, process: JobProcess, sleep: Callable[[float], None]) -> list[Stack] | None:
    """None where the process did not ask for it."""
    directory = process.environ.get(DIRECTORY, "")
    path = os.path.join(directory, f"stacks.{process.pid}")
    if not directory or not _catches(machine, process.pid) or not machine.exists(path):
        return None
    before = machine.stat(path).size
    try:
        os.kill(process.pid, signal.SIGUSR1)
    except OSError as error:
        raise CouldNotLook(f"SIGUSR1 was not sent to process {process.pid}: {error.strerror}") from None
    for _ in range(20):
        sleep(WAIT_S / 20)
        text = machine.read_bytes(path, limit_bytes=FILE_BYTES, offset=before).decode("utf-8", "replace")
        if text.endswith("\n") and (found := parse_faulthandler(text)):
            return found
    raise CouldNotLook(f"process {process.pid} wrote no stack into {path}")


def _catches(machine: Machine, pid: int) -> bool:
    """Whether SIGUSR1 has a handler: without one it would end the process."""
    try:
        found = _CAUGHT.search(machine.read(f"/proc/{pid}/status"))
    except CouldNotLook:
        return False
    return found is not None and bool(int(found[1], 16) >> (signal.SIGUSR1 - 1) & 1)
