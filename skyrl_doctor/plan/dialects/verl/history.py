"""The releases that know a key, and its name in another release.

A name is derived from two releases in a row: a key that goes and a key that comes with the same last name, the same
default and the same section are one key if there is no other such pair. Then the rest of their tables follows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Table = Mapping[str, Any]
_AGREEING = 2
"""A table has moved if so many of its keys are sure to be in the new one."""


@dataclass(slots=True)
class History:
    """The tables of one trainer by release, the newest first. A release without this trainer has none."""

    tables: Mapping[str, Table]
    _renames: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def having(self, key: str) -> tuple[str, ...]:
        """The releases with this key, the newest first."""
        return tuple(version for version, table in self.tables.items() if _has(table, key))

    def told(self, key: str) -> str:
        """The releases with this key in words: `verl 0.4.1 to 0.9.0`."""
        versions, found = list(self.tables), self.having(key)
        if not found:
            return ""
        newest, oldest = versions.index(found[0]), versions.index(found[-1])
        if oldest - newest + 1 != len(found):
            return f"verl {', '.join(reversed(found))}"
        return f"verl {found[0]}" if len(found) == 1 else f"verl {found[-1]} to {found[0]}"

    def name_in(self, key: str, version: str) -> str | None:
        """The name of a key of another release in this one, if it is sure."""
        if version not in self.tables or not self.having(key):
            return None
        versions = list(self.tables)
        goal = versions.index(version)
        at = min((versions.index(found) for found in self.having(key)), key=lambda index: abs(index - goal))
        while at != goal:
            step = 1 if goal > at else -1
            if not _has(self.tables[versions[at + step]], key):
                renamed = self._between(versions[at], versions[at + step]).get(key)
                if renamed is None:
                    return None
                key = renamed
            at += step
        return key

    def _between(self, old: str, new: str) -> dict[str, str]:
        if (old, new) not in self._renames:
            self._renames[old, new] = renames(self.tables[old], self.tables[new])
        return self._renames[old, new]


def renames(old: Table, new: Table) -> dict[str, str]:
    """The keys of `old` that `new` has under another name."""
    gone = [key for key in old if key not in new]
    come = [key for key in new if key not in old]
    candidates = {key: [other for other in come if _is_alike(key, other, old, new)] for key in gone}
    taken = Counter(found[0] for found in candidates.values() if len(found) == 1)
    sure = {key: found[0] for key, found in candidates.items() if len(found) == 1 and taken[found[0]] == 1}
    return {**_moved(gone, sure, new), **sure}


def _moved(gone: Sequence[str], sure: Mapping[str, str], new: Table) -> dict[str, str]:
    """The keys of tables that have moved as a whole."""
    votes = Counter(_different(key, other) for key, other in sure.items())
    found: dict[str, str] = {}
    for key in gone:
        for (old_table, new_table), count in votes.items():
            other = new_table + key[len(old_table) :]
            if count >= _AGREEING and key.startswith(f"{old_table}.") and other in new:
                found[key] = other
    return found


def _different(key: str, other: str) -> tuple[str, str]:
    """Both keys without their common end."""
    parts, others = key.split("."), other.split(".")
    while len(parts) > 1 and len(others) > 1 and parts[-1] == others[-1]:
        parts.pop()
        others.pop()
    return ".".join(parts), ".".join(others)


def _is_alike(key: str, other: str, old: Table, new: Table) -> bool:
    parts, others = key.split("."), other.split(".")
    if parts[-1] != others[-1] or parts[-1] == "_target_" or old[key] != new[other]:
        return False
    return _section(parts) == _section(others) or (parts[-2:] == others[-2:] and len(parts) > 1)


def _section(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(parts[:2] if parts[0] == "actor_rollout_ref" else parts[:1])


def _has(table: Table, key: str) -> bool:
    return key in table or any(name.startswith(f"{key}.") for name in table)
