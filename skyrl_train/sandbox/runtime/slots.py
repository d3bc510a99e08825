"""Who may run now, and who waits. Pure: no clock, no tasks.

First come, first served, also where a later, smaller one would fit: a session of factor 8 must not wait for ever.
"""

from collections import OrderedDict
from enum import Enum, auto


class SlotDecision(Enum):
    GRANTED = auto()
    QUEUED = auto()
    FULL = auto()
    """The queue has no place; later it may."""
    TOO_BIG = auto()
    """More than the node has."""


class Slots:
    """Worker slots of one node. A session takes as many as its resource factor."""

    def __init__(self, total: int, queue: int) -> None:
        self.total = total
        self.queue_limit = queue
        self._held: dict[str, int] = {}
        self._waiting: OrderedDict[str, int] = OrderedDict()

    @property
    def used(self) -> int:
        return sum(self._held.values())

    @property
    def free(self) -> int:
        return self.total - self.used

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def ask(self, name: str, units: int) -> SlotDecision:
        if units > self.total:
            return SlotDecision.TOO_BIG
        if not self._waiting and units <= self.free:
            self._held[name] = units
            return SlotDecision.GRANTED
        if len(self._waiting) >= self.queue_limit:
            return SlotDecision.FULL
        self._waiting[name] = units
        return SlotDecision.QUEUED

    def take(self, name: str, units: int) -> None:
        """For what runs already when the server comes up; it may be more than there is."""
        self._held[name] = units

    def release(self, name: str) -> tuple[str, ...]:
        """Gives back what `name` held or waited for; the names that may run now."""
        self._held.pop(name, None)
        self._waiting.pop(name, None)
        granted = []
        while self._waiting:
            following, units = next(iter(self._waiting.items()))
            if units > self.free:
                break
            del self._waiting[following]
            self._held[following] = units
            granted.append(following)
        return tuple(granted)

    def wanted(self) -> int:
        """Units that the first in the queue lacks."""
        first = next(iter(self._waiting.values()), 0)
        return max(0, first - self.free)
