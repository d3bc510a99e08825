"""A path in an image, looked up through its layers as overlay does: the topmost layer that has it counts.

Links are followed inside the image only: one to /usr/bin must not lead to this machine's.
"""

import posixpath

from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Absent, Machine, Unreadable
from skyrl_doctor.machine.queries import Stat

_HOPS = 20
_GONE = ".wh."
"""What fuse-overlayfs and layers on the way call a file that is taken away; overlay itself has a device in its place."""


@record
class LayerEntry:
    """What is at a path, and where this machine has it."""

    place: str
    stat: Stat


class ImageLayers:
    """The layers of one image, topmost first. What was seen once is not asked for again."""

    def __init__(self, machine: Machine, layers: tuple[str, ...]) -> None:
        self._machine = machine
        self._layers = layers
        self._seen: dict[str, LayerEntry | None] = {}

    def find(self, path: str) -> LayerEntry | None:
        """None where nothing is there. Raises Unreadable where a directory on the way may not be entered."""
        parts = [part for part in path.split("/") if part]
        at, hops = "", 0
        while parts:
            if parts[0] == "..":
                at, parts = posixpath.dirname(at).rstrip("/"), parts[1:]
                continue
            at = f"{at}/{parts.pop(0)}"
            found = self._at(at)
            if found is None:
                return None
            if found.stat.kind != "link":
                continue
            hops += 1
            if hops > _HOPS:
                return None
            target = self._machine.readlink(found.place)
            parts = [part for part in target.split("/") if part not in ("", ".")] + parts
            at = "" if target.startswith("/") else posixpath.dirname(at).rstrip("/")
        return self._at(at)

    def _at(self, path: str) -> LayerEntry | None:
        if path not in self._seen:
            self._seen[path] = self._look(path)
        return self._seen[path]

    def _look(self, path: str) -> LayerEntry | None:
        directory, name = posixpath.split(path)
        for layer in self._layers:
            place = f"{layer}{path}"
            stat = self._lstat(place)
            if stat is not None:
                return None if stat.kind == "char" and stat.mode == 0 else LayerEntry(place, stat)
            if name and self._lstat(f"{layer}{directory}/{_GONE}{name}".replace("//", "/")) is not None:
                return None
        return None

    def _lstat(self, place: str) -> Stat | None:
        try:
            return self._machine.stat(place, follow=False)
        except Absent:
            return None
        except Unreadable as error:
            if "Not a directory" in error.why:
                return None
            raise
