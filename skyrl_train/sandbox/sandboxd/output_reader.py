"""What a child writes, until it ends or its time does."""

from __future__ import annotations

import os
import select
import threading
import time

from skyrl_train.sandbox.sandboxd.children import Child, Children
from skyrl_train.sandbox.sandboxd.clipped_output import Clip

LEFTOVER_S = 0.2
"""How long output is still read after the shell ended, where something in the background holds on to it."""
_CHUNK = 65536


class Ran:
    """How a program of ours ended; no exit code where it had to be ended."""

    __slots__ = ("exit_code", "stderr", "stdout")

    def __init__(self, exit_code: int | None, stdout: str, stderr: str) -> None:
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr


class Reading:
    """Both streams of a command and its end, in one wait."""

    def __init__(self, child: Child, out: int, err: int, *, limit: int) -> None:
        self._child = child
        self._clips = {out: Clip(limit), err: Clip(limit)}
        self._open = {out, err}
        self._poll = select.poll()
        self._alive = True
        self._last_word = 0.0
        for descriptor in (out, err, child.ended):
            self._poll.register(descriptor, select.POLLIN)

    def until(self, deadline: float) -> bool:
        """Reads; whether the command ended before then. What it left in the background holds nobody up."""
        while self._open or self._alive:
            left = deadline - time.monotonic()
            ready = self._poll.poll(max(0, left) * 1000) if left > 0 else []
            if not ready:
                return not self._alive
            for descriptor, _ in ready:
                self._take(descriptor)
            if not self._alive:
                deadline = min(deadline, self._last_word)
        return True

    def _take(self, descriptor: int) -> None:
        if descriptor == self._child.ended:
            self._alive = False
            self._last_word = time.monotonic() + LEFTOVER_S
            self._poll.unregister(descriptor)
            return
        data = os.read(descriptor, _CHUNK)
        if data:
            self._clips[descriptor].add(data)
        else:
            self._poll.unregister(descriptor)
            self._open.discard(descriptor)

    def close(self) -> tuple[str, str]:
        """Both texts. A pipe that something in the background writes to is emptied until that has ended."""
        left = set(self._open)
        for descriptor in self._clips:
            if descriptor not in left:
                os.close(descriptor)
        self._child.close()
        if left:
            _drain_later(left)
        out, err = (clip.text() for clip in self._clips.values())
        return out, err


def _drain_later(descriptors: set[int]) -> None:
    for descriptor in descriptors:
        try:
            threading.Thread(target=_drain, args=(descriptor,), daemon=True).start()
        except RuntimeError:
            os.close(descriptor)


def _drain(descriptor: int) -> None:
    while os.read(descriptor, _CHUNK):
        pass
    os.close(descriptor)


def run(children: Children, argv: list[str], *, cwd: str, env: dict[str, str], limit_s: float, limit: int) -> Ran:
    """A program of ours, to its end. Raises OSError where it cannot be started."""
    child, out, err = children.spawn(argv, cwd=cwd, env=env)
    reading = Reading(child, out, err, limit=limit)
    ended = reading.until(time.monotonic() + limit_s)
    if not ended:
        children.end(child, grace_s=0.2)
        reading.until(time.monotonic() + LEFTOVER_S)
    stdout, stderr = reading.close()
    return Ran(child.exit_code if ended else None, stdout, stderr)
