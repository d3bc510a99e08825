"""Follows many logs at once, with bounded work a turn and bounded open files. A failure of one file stops no other."""

import os
from collections.abc import Callable, Iterator, Sequence

from skyrl_doctor.watch.follow.files import Listing, listing
from skyrl_doctor.watch.follow.inotify import Inotify
from skyrl_doctor.watch.follow.tail import Lines, Mark, Tail

MOST_FILES = 400
MOST_MARKS = 1000
TURN_BYTES = 4 << 20
"""The most that is read in one turn, so that samplers and rules also run during a backlog."""
FILE_BYTES = 1 << 20
"""The most of one file, so that an endless file does not block the others."""
RESCAN_S = 10.0
"""Directories are listed this often even with inotify, which does not report changes behind links."""
POLL_S = 2.0
"""The same without inotify."""
IDLE_S = 1.0
"""A line without a line end is read once its file has not grown for this long."""

Identity = tuple[int, int]


class Follower:
    """`places` are directories and files; `more` gives further ones. Without `inotify`, every file is read every turn."""

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
        self._unended: set[Identity] = set()
        self._busy: set[Identity] = set()
        self._polled: set[Identity] = set()
        self._listed_at = float("-inf")
        self._troubles: set[str] = set()
        self._notices: list[str] = []
        self.has_backlog = False
        """Whether the last turn left anything unread."""

    def turn(self, now: float) -> Iterator[Lines]:
        """The new lines since the last turn, file by file."""
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
        self.has_backlog = bool(self._busy)

    def notices(self) -> list[str]:
        """New problems since the last call; each is reported once."""
        notices, self._notices = self._notices, []
        return notices

    def marks(self) -> list[Mark]:
        """How far each file is read. Marks of missing files are kept: they may come back under another name."""
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
            self._warn(trouble)
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
        except FileNotFoundError:  # deleted meanwhile
            return
        except OSError as error:
            self._warn(f"inotify is not available ({error.strerror}): reading every log every turn")
            self._inotify.close()
            self._inotify = None

    def _open(self, path: str, identity: Identity, now: float) -> None:
        if len(self._tails) >= MOST_FILES:
            self._warn(f"more than {MOST_FILES} logs: the rest is not followed")
            return
        try:
            tail = Tail(path, self._marks.get(identity))
        except FileNotFoundError:
            return
        except OSError as error:
            self._warn(f"{path}: {error.strerror}")
            return
        self._marks.pop(tail.identity, None)
        self._tails[tail.identity] = tail
        self._grew[tail.identity] = now
        self._busy.add(tail.identity)
        self._poll_if_linked(tail)

    def _poll_if_linked(self, tail: Tail) -> None:
        """inotify watches directories: it reports no writes behind a link or elsewhere."""
        watched = self._inotify.directories() if self._inotify is not None else frozenset()
        if os.path.islink(tail.path) or os.path.dirname(tail.path) not in watched:
            self._polled.add(tail.identity)
        else:
            self._polled.discard(tail.identity)

    def _let_go(self, present: set[Identity], now: float) -> None:
        """Reads a deleted log to its end, then closes it to free its disk space."""
        for identity in set(self._tails) - present:
            since = self._gone.setdefault(identity, now)
            if now - since >= IDLE_S and now - self._grew.get(identity, now) >= IDLE_S:
                self._warn(f"{self._tails[identity].path} was deleted")
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
        for kept in (self._unended, self._busy, self._polled):
            kept.discard(identity)

    def _read(self, identity: Identity, now: float) -> Iterator[Lines]:
        read = 0
        self._busy.discard(identity)
        while read < FILE_BYTES:
            lines = self._next(identity)
            if lines is None:
                return
            self._grew[identity] = now
            self._unended.discard(identity)
            read += max(1, len(lines.text))
            if lines.text:
                yield lines
        self._busy.add(identity)

    def _next(self, identity: Identity) -> Lines | None:
        tail = self._tails[identity]
        try:
            lines = tail.read()
        except OSError as error:
            self._warn(f"{tail.path}: {error.strerror or error}")
            self._drop(identity)
            return None
        if tail.restarted:
            self._warn(f"{tail.path}: {tail.restarted}; reading it from the beginning")
            tail.restarted = ""
        return lines

    def _unfinished(self, identity: Identity, now: float) -> Iterator[Lines]:
        if now - self._grew.get(identity, now) < IDLE_S or identity in self._unended or identity in self._busy:
            return
        self._unended.add(identity)
        lines = self._tails[identity].unfinished()
        if lines is not None:
            yield lines

    def _warn(self, text: str) -> None:
        if text not in self._troubles and len(self._troubles) < MOST_MARKS:
            self._troubles.add(text)
            self._notices.append(text)


def inotify_of(places: Sequence[str], *, on_network: bool) -> Inotify | None:
    """None where inotify does not work: a network file system does not report writes of other nodes."""
    if on_network or not any(os.path.isdir(place) for place in places):
        return None
    try:
        return Inotify()
    except OSError:
        return None
