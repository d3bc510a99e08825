"""Runs the tests as a child process, and reads their results from a socket that only the plugin of pytest has."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pkgutil
import random
import selectors
import signal
import socket
import subprocess
import tempfile
import time
from typing import Any

from skyrl_train.agent.inside.processes import end_group, start_session

VARIABLE = "SKYRL_GRADE"
"""The environment variable with the settings of `plugin`, which removes it."""
_PASSED = ("PYTHONPATH", "PYTEST_ADDOPTS", VARIABLE)
"""What tox must pass on, version 3 and 4."""
MOST_OUTPUT = 4 << 20
"""Bytes kept of the output, from its end."""
_TAIL = 4000
"""Characters of the output that are returned with results."""
MOST_MESSAGES = 64 << 20
_LEFTOVER_S = 1.0
_STEP_S = 0.05
_STOP_S = 1.0


class Messages:
    """The messages of the plugin. One with a wrong digest is ignored, and so is all that follows it."""

    def __init__(self) -> None:
        self.key = os.urandom(64)
        self._digest = hashlib.blake2b(key=self.key)
        self._rest = b""
        self._size = 0
        self.messages: list[list[Any]] = []
        self.forged = False

    def add(self, data: bytes) -> None:
        self._size += len(data)
        if self.forged or self._size > MOST_MESSAGES:
            self.forged = True
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            digest, _, text = line.partition(b" ")
            self._digest.update(text)
            if digest != self._digest.hexdigest().encode():
                self.forged = True
                return
            self.messages.append(json.loads(text))

    def of(self, kind: str) -> list[list[Any]]:
        return [message[1:] for message in self.messages if message[0] == kind]


class Output:
    """The end of the output, and whether its beginning was lost."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.truncated = False

    def add(self, data: bytes) -> None:
        self.data += data
        if len(self.data) > 2 * MOST_OUTPUT:
            del self.data[:-MOST_OUTPUT]
            self.truncated = True


def run_tests(script: str, root: str, changed: list[str], limit_s: float) -> dict[str, Any]:
    """Runs the script. `results` is None if pytest did not begin with our plugin. The sandbox is removed afterwards."""
    messages, output = Messages(), Output()
    place, plugin = _written_plugin()
    began = time.monotonic()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(os.path.join(place, "door"))
        door.listen(8)
        environ = _environment(place, plugin, [os.path.realpath(os.path.join(root, path)) for path in changed])
        process = start_session(["bash", "-c", script], environ=environ)
        starts = _follow(process, door, messages, output, began + limit_s)
    timed_out = process.poll() is None
    _end(process)
    if process.stdout:
        process.stdout.close()
    code = process.returncode
    results = messages.of("result") if messages.of("begin") and starts == 1 else None
    text = output.data.decode("utf-8", "replace")
    return {
        "exit_code": 128 - code if code < 0 else code,
        "timed_out": timed_out,
        "duration_s": round(time.monotonic() - began, 3),
        "output": text[-_TAIL:] if results else text,
        "truncated": output.truncated,
        "results": results,
        "finished": bool(messages.of("finish")) and not messages.forged,
        "universal": len(messages.of("universal")),
    }


def _written_plugin() -> tuple[str, str]:
    """A new directory with the plugin, and the plugin's new name. Its path is short, as that of a socket must be."""
    place = tempfile.mkdtemp(dir="/tmp" if os.path.isdir("/tmp") else None)  # noqa: S108 -- made for us alone
    name = "".join(random.SystemRandom().choice("abcdefghijklmnopqrstuvwxyz") for _ in range(16))
    with open(os.path.join(place, name + ".py"), "wb") as file:
        file.write(pkgutil.get_data(__package__, "plugin.py") or b"")
    return place, name


def _environment(place: str, plugin: str, changed: list[str]) -> dict[str, str]:
    """The environment of the script, with the plugin, which restores what is changed here. tox passes it on."""
    environ = dict(os.environ)
    added = {
        "PYTHONPATH": os.pathsep.join(filter(None, [place, environ.get("PYTHONPATH")])),
        "PYTEST_ADDOPTS": " ".join(filter(None, [environ.get("PYTEST_ADDOPTS"), "-p", plugin])),
        "TOX_TESTENV_PASSENV": " ".join(filter(None, [environ.get("TOX_TESTENV_PASSENV"), *_PASSED])),
        "TOX_OVERRIDE": ";".join(filter(None, [environ.get("TOX_OVERRIDE"), f"testenv.pass_env+={','.join(_PASSED)}"])),
    }
    restore = {key: environ.get(key) for key in added}
    settings = {"door": os.path.join(place, "door"), "changed": changed, "restore": restore}
    return {**environ, **added, VARIABLE: json.dumps(settings)}


def _follow(
    process: subprocess.Popen[bytes], door: socket.socket, messages: Messages, output: Output, deadline: float
) -> int:
    """Reads output and messages until the process ends, and returns how often pytest started. A process that it leaves
    behind is not waited for.

    Only the first connection gets the key: it is pytest's, before it imports what was changed.
    """
    assert process.stdout is not None
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        os.set_blocking(process.stdout.fileno(), False)
        selector.register(process.stdout.fileno(), selectors.EVENT_READ, output)
        selector.register(door.fileno(), selectors.EVENT_READ, door)
        ended, starts = None, 0
        while process.poll() is None or any(key.data is not door for key in selector.get_map().values()):
            now = time.monotonic()
            if ended is None and process.poll() is not None:
                ended = now
            if now > deadline or (ended is not None and now > ended + _LEFTOVER_S):
                return starts
            ready = [key for key, _ in selector.select(_STEP_S)]
            for key in [key for key in ready if key.data is not door]:
                _take(key.fd, selector, key.data)
            if not any(key.data is door for key in ready):
                continue
            starts += 1
            connection, _ = door.accept()
            if starts == 1:
                _greet(stack.enter_context(connection), messages, selector)
            else:
                connection.close()
    return starts


def _greet(connection: socket.socket, messages: Messages, selector: selectors.BaseSelector) -> None:
    """Gives pytest the key, and has its messages read."""
    with contextlib.suppress(OSError):  # it is closed already
        connection.sendall(messages.key)
    os.set_blocking(connection.fileno(), False)
    selector.register(connection.fileno(), selectors.EVENT_READ, messages)


def _take(descriptor: int, selector: selectors.BaseSelector, target: Messages | Output) -> None:
    data = _read(descriptor)
    if data == b"":
        selector.unregister(descriptor)
    elif data is not None:
        target.add(data)


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        end_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_S)
    end_group(process.pid, signal.SIGKILL)
    process.wait()
