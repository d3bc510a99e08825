"""Output of any length in bounded memory: its beginning, its end, and how much was left out between. Pure."""

from __future__ import annotations


class Clip:
    """Keeps `limit` bytes: the first half as they come, and the last half as they change."""

    __slots__ = ("_half", "_head", "_seen", "_tail")

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._seen = 0

    def add(self, data: bytes) -> None:
        self._seen += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def left_out(self) -> int:
        return self._seen - len(self._head) - min(len(self._tail), self._half)

    def text(self) -> str:
        """What was kept. Bytes that are no UTF-8, one that was cut among them, become replacement characters."""
        tail = self._tail[-self._half :]
        left_out = self.left_out
        if not left_out:
            return (self._head + tail).decode("utf-8", "replace")
        kept = len(self._head) + len(tail)
        middle = (
            f"\n[sandboxd: {left_out} bytes left out here; of {self._seen} the first and last {kept // 2} are kept]\n"
        )
        return self._head.decode("utf-8", "replace") + middle + tail.decode("utf-8", "replace")
