"""A command: run in a shell of its own, in a process group of its own, ended at its time-out, its output bounded."""

from __future__ import annotations

import os
import threading
import time

from skyrl_train.contracts.sandboxd_api import ALLOCATOR, SESSION_KEY_VARIABLES, TIMED_OUT
from skyrl_train.sandbox.sandboxd.children import Child, Children
from skyrl_train.sandbox.sandboxd.events import Events, command_event, output_event
from skyrl_train.sandbox.sandboxd.limit_enforcer import Warden
from skyrl_train.sandbox.sandboxd.output_reader import LEFTOVER_S, Reading

OUTPUT_LIMIT = 4 * 1024 * 1024
"""Bytes kept of each of a command's two streams. The end is kept too: that is where tests print their summary."""
GRACE_S = 1.0
"""Between the question and the end."""
LONGEST_S = 20 * 86400
"""What still can be waited for at once, in milliseconds of 31 bits."""
_SECRET_PREFIX = SESSION_KEY_VARIABLES[0].rstrip("0")


def child_environment(environ: dict[str, str]) -> dict[str, str]:
    """What this process was given for others: no keys of ours, no locale that Python set for itself at its start."""
    taken = {*SESSION_KEY_VARIABLES, *([] if "LC_CTYPE" in given_names() else ["LC_CTYPE"])}
    taken.update(name for name, text in ALLOCATOR.items() if environ.get(name) == text)
    kept = {name: text for name, text in environ.items() if name not in taken and not name.startswith(_SECRET_PREFIX)}
    kept.setdefault("AI_AGENT", "openhands")
    return kept


def given_names() -> set[str]:
    try:
        with open("/proc/self/environ", "rb") as file:
            return {os.fsdecode(text.partition(b"=")[0]) for text in file.read().split(b"\0")}
    except OSError:
        return set()


def shell() -> str:  # FIX(RUN006)
    """bash wherever there is one: `source`, `[[` and arrays are what agents and scripts write."""
    return "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"


class Commands:
    """Those that run, by their ids, and what they gave."""

    def __init__(
        self, children: Children, events: Events, warden: Warden, *, env: dict[str, str], limit: int = OUTPUT_LIMIT
    ) -> None:
        self._children = children
        self.events = events
        self._warden = warden
        self._env = env
        self._limit = limit
        self._shell = shell()
        self._lock = threading.Lock()
        self._running: dict[str, Child | None] = {}
        self._stopped: set[str] = set()

    def execute(self, command: str, cwd: str | None, timeout: int) -> dict[str, object]:
        return self._run(self._begin(command, cwd, timeout))

    def start(self, command: str, cwd: str | None, timeout: int) -> dict[str, object]:
        event = self._begin(command, cwd, timeout)
        try:
            threading.Thread(target=self._run, args=(event,), daemon=True).start()
        except RuntimeError as error:  # no thread to be had: the sandbox is out of processes
            self._finish(event, TIMED_OUT, "", f"Error executing command: {error}")
        return event

    def stop(self, command_id: str) -> bool:
        """Whether there is or was such a command. One whose process is not there yet ends as soon as it is."""
        with self._lock:
            known = command_id in self._running
            child = self._running.get(command_id)
            if known and child is None:
                self._stopped.add(command_id)
        if child is not None:
            self._children.end(child, grace_s=GRACE_S)
        return known or self.events.get(command_id) is not None

    def _begin(self, command: str, cwd: str | None, timeout: int) -> dict[str, object]:
        event = command_event(command, cwd, timeout)
        with self._lock:
            self._running[str(event["id"])] = None
        return self.events.add(event)

    def _finish(self, event: dict[str, object], exit_code: int, stdout: str, stderr: str) -> dict[str, object]:
        command_id = str(event["id"])
        output = self.events.add(output_event(command_id, exit_code, stdout, stderr))
        with self._lock:
            self._running.pop(command_id, None)
            self._stopped.discard(command_id)
        return output

    def _run(self, event: dict[str, object]) -> dict[str, object]:
        timeout = min(max(0, int(str(event["timeout"]))), LONGEST_S)
        began = time.monotonic()
        deadline = began + timeout
        cwd = event["cwd"]
        try:
            argv = [self._shell, "-c", str(event["command"])]
            child, out, err = self._children.spawn(argv, cwd=None if cwd is None else str(cwd), env=self._env)
        except (OSError, ValueError) as error:
            return self._finish(event, TIMED_OUT, "", f"Error executing command: {error}")
        self._known(str(event["id"]), child)
        reading = Reading(child, out, err, limit=self._limit)
        ended = reading.until(deadline)
        if not ended:
            self._children.end(child, grace_s=GRACE_S)
            reading.until(time.monotonic() + LEFTOVER_S)
        stdout, stderr = reading.close()
        if child.exit_code and self._warden.said_since(began):
            stderr += f"\n[sandboxd: {self._warden.said_since(began)}]\n"
        if not ended:  # the words by which clients tell a time-out
            stderr += ("\n" if stderr else "") + f"Command timed out after {timeout} seconds"
        return self._finish(event, child.exit_code if ended else TIMED_OUT, stdout, stderr)

    def _known(self, command_id: str, child: Child) -> None:
        with self._lock:
            self._running[command_id] = child
            stopped = command_id in self._stopped
        if stopped:
            self._children.end(child, grace_s=GRACE_S)
