"""Reads a child's output until it ends or its time is over."""

from __future__ import annotations

import os
import select
import threading
import time

from skyrl_train.sandbox.sandboxd.children import Child, Children
from skyrl_train.sandbox.sandboxd.clipped_output import ClippedOutput

LEFTOVER_S = 0.2
"""How long output is read after the shell ended, while a background process keeps it open."""
_CHUNK = 65536


class ProgramResult:
    """The result of a program of ours; no exit code if it was killed."""

    __slots__ = ("exit_code", "stderr", "stdout")

    def __init__(self, exit_code: int | None, stdout: str, stderr: str) -> None:
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr


class OutputReader:
    """Waits for both streams of a command and for its end."""

    def __init__(self, child: Child, out: int, err: int, *, limit: int) -> None:
        self._child = child
        self._clips = {out: ClippedOutput(limit), err: ClippedOutput(limit)}
        self._open = {out, err}
        self._poll = select.poll()
        self._alive = True
        self._last_word = 0.0
        for descriptor in (out, err, child.ended):
            self._poll.register(descriptor, select.POLLIN)

    def until(self, deadline: float) -> bool:
        """Reads until the given time; returns whether the command ended. Background processes do not delay this."""
        while self._open or self._alive:
            left = deadline - time.monotonic()
            ready = self._poll.poll(max(0, left) * 1000) if left > 0 else []
            if not ready:
                return not self._alive
            for descriptor, _ in ready:
                self._read_from(descriptor)
            if not self._alive:
                deadline = min(deadline, self._last_word)
        return True

    def _read_from(self, descriptor: int) -> None:
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
        """Both texts. A pipe of a background process is drained until that has ended."""
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


def run(
    children: Children, argv: list[str], *, cwd: str, env: dict[str, str], limit_s: float, limit: int
) -> ProgramResult:
    """Runs a program of ours to its end. Raises OSError if it cannot be started."""
    child, out, err = children.spawn(argv, cwd=cwd, env=env)
    reading = OutputReader(child, out, err, limit=limit)
    ended = reading.until(time.monotonic() + limit_s)
    if not ended:
        children.end(child, grace_s=0.2)
        reading.until(time.monotonic() + LEFTOVER_S)
    stdout, stderr = reading.close()
    return ProgramResult(child.exit_code if ended else None, stdout, stderr)
