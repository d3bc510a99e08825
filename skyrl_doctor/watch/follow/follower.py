"""Follows many logs at once: bounded work a turn, bounded files open, and it goes on whatever happens to one of them."""

import os
from collections.abc import Callable, Iterator, Sequence

from skyrl_doctor.watch.follow.files import Listing, listing
from skyrl_doctor.watch.follow.inotify import Inotify
from skyrl_doctor.watch.follow.tail import Lines, Mark, Tail

MOST_FILES = 400
MOST_MARKS = 1000
TURN_BYTES = 4 << 20
"""Read in one turn at most, so that samplers and rules get theirs also behind a backlog."""
FILE_BYTES = 1 << 20
"""... and of one file, so that one that never ends does not hide the others."""
RESCAN_S = 10.0
"""Names are looked at anew this often even where the kernel tells of changes: it does not tell of links' targets."""
POLL_S = 2.0
"""... and this often where it does not."""
IDLE_S = 1.0
"""A line without an end is shown after its file stood still this long."""

Identity = tuple[int, int]


class Follower:
    """`places` are directories and files, `more` tells of such as come. `inotify` None: look at every file every turn."""

    def __init__(
        self,
        places: Sequence[str],
        *,
        inotify: Inotify | None = None,
        marks: Sequence[Mark] = (),
        more: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._places, self._more = tuple(places), more
        self._inotify = inotify
        self._marks = {mark.identity: mark for mark in marks}
        self._tails: dict[Identity, Tail] = {}
        self._grew: dict[Identity, float] = {}
        self._gone: dict[Identity, float] = {}
        self._shown: set[Identity] = set()
        self._busy: set[Identity] = set()
        self._polled: set[Identity] = set()
        self._listed_at = float("-inf")
        self._troubles: set[str] = set()
        self._notices: list[str] = []
        self.behind = False
        """Whether the last turn left something unread."""

    def turn(self, now: float) -> Iterator[Lines]:
        """What came since the last turn, file by file."""
        changed = self._changed(now)
        due = [one for one in self._tails if changed is None or one in self._polled or self._tails[one].path in changed]
        self._busy.update(due)
        left = TURN_BYTES
        for identity in list(self._busy):
            if left <= 0:
                break
            for lines in self._read(identity, now):
                left -= len(lines.text)
                yield lines
        for identity in list(self._tails):
            yield from self._unfinished(identity, now)
        self.behind = bool(self._busy)

    def notices(self) -> list[str]:
        """What went wrong since the last question, each thing said once."""
        said, self._notices = self._notices, []
        return said

    def marks(self) -> list[Mark]:
        """How far each file is read. Those of files that are not here now are kept: they may come back renamed."""
        return [*(tail.mark for tail in self._tails.values()), *self._marks.values()]

    def paths(self) -> list[str]:
        return sorted(tail.path for tail in self._tails.values())

    def close(self) -> None:
        for tail in self._tails.values():
            tail.close()
        if self._inotify is not None:
            self._inotify.close()

    def _changed(self, now: float) -> frozenset[str] | None:
        """The paths to read; None for all."""
        changed = self._inotify.changed() if self._inotify is not None else None
        every = RESCAN_S if changed is not None else POLL_S
        whole = changed is None or now - self._listed_at >= every
        if now - self._listed_at >= every or (changed is not None and changed.listing):
            self._list(now)
            whole = True
        return None if whole or changed is None else changed.files

    def _list(self, now: float) -> None:
        self._listed_at = now
        found = listing((*self._places, *self._more()))
        for trouble in found.troubles:
            self._say(trouble)
        self._watch(found)
        for seen in found.files:
            tail = self._tails.get(seen.identity)
            if tail is None:
                self._open(seen.path, seen.identity, now)
            elif tail.path != seen.path:
                tail.path = seen.path
                self._poll_if_linked(tail)
        self._let_go({seen.identity for seen in found.files}, now)

    def _watch(self, found: Listing) -> None:
        if self._inotify is None:
            return
        try:
            for directory in set(found.directories) - self._inotify.directories():
                self._inotify.add(directory)
        except FileNotFoundError:  # it went meanwhile
            return
        except OSError as error:
            self._say(f"no inotify here ({error.strerror}): looking at every log every turn")
            self._inotify.close()
            self._inotify = None

    def _open(self, path: str, identity: Identity, now: float) -> None:
        if len(self._tails) >= MOST_FILES:
            self._say(f"more than {MOST_FILES} logs: not all are followed")
            return
        try:
            tail = Tail(path, self._marks.get(identity))
        except FileNotFoundError:
            return
        except OSError as error:
            self._say(f"{path}: {error.strerror}")
            return
        self._marks.pop(tail.identity, None)
        self._tails[tail.identity] = tail
        self._grew[tail.identity] = now
        self._busy.add(tail.identity)
        self._poll_if_linked(tail)

    def _poll_if_linked(self, tail: Tail) -> None:
        """The kernel tells of directories: what is written behind a link, or elsewhere, it does not tell here."""
        told = self._inotify.directories() if self._inotify is not None else frozenset()
        if os.path.islink(tail.path) or os.path.dirname(tail.path) not in told:
            self._polled.add(tail.identity)
        else:
            self._polled.discard(tail.identity)

    def _let_go(self, present: set[Identity], now: float) -> None:
        """A log that was deleted is read to its end, and then closed: its space belongs to the job."""
        for identity in set(self._tails) - present:
            since = self._gone.setdefault(identity, now)
            if now - since >= IDLE_S and now - self._grew.get(identity, now) >= IDLE_S:
                self._say(f"{self._tails[identity].path}: it is gone")
                self._drop(identity)
        for identity in set(self._gone) & present:
            del self._gone[identity]

    def _drop(self, identity: Identity) -> None:
        tail = self._tails.pop(identity)
        self._marks[identity] = tail.mark
        for old in list(self._marks)[:-MOST_MARKS]:
            del self._marks[old]
        tail.close()
        self._grew.pop(identity, None)
        self._gone.pop(identity, None)
        for kept in (self._shown, self._busy, self._polled):
            kept.discard(identity)

    def _read(self, identity: Identity, now: float) -> Iterator[Lines]:
        read = 0
        self._busy.discard(identity)
        while read < FILE_BYTES:
            lines = self._next(identity)
            if lines is None:
                return
            self._grew[identity] = now
            self._shown.discard(identity)
            read += max(1, len(lines.text))
            if lines.text:
                yield lines
        self._busy.add(identity)

    def _next(self, identity: Identity) -> Lines | None:
        tail = self._tails[identity]
        try:
            lines = tail.read()
        except OSError as error:
            self._say(f"{tail.path}: {error.strerror or error}")
            self._drop(identity)
            return None
        if tail.restarted:
            self._say(f"{tail.path}: {tail.restarted}; read from its beginning")
            tail.restarted = ""
        return lines

    def _unfinished(self, identity: Identity, now: float) -> Iterator[Lines]:
        if now - self._grew.get(identity, now) < IDLE_S or identity in self._shown or identity in self._busy:
            return
        self._shown.add(identity)
        lines = self._tails[identity].unfinished()
        if lines is not None:
            yield lines

    def _say(self, text: str) -> None:
        if text not in self._troubles and len(self._troubles) < MOST_MARKS:
            self._troubles.add(text)
            self._notices.append(text)


def inotify_of(places: Sequence[str], *, on_network: bool) -> Inotify | None:
    """A network file system does not tell what other nodes write."""
    if on_network or not any(os.path.isdir(place) for place in places):
        return None
    try:
        return Inotify()
    except OSError:
        return None
