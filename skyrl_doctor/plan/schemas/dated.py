"""The keys of every version of a package, by date: each key has the dates on which it came and went.

`python -m benchmarks.schemas` makes the stored tables from the history of a repository.
"""

import functools
import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.schemas.classes import ANY
from skyrl_doctor.plan.schemas.schema import Schema, normal

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "defaults")
Span = tuple[str, str, str]
"""The type of a key, the date of its first version and that of the first version without it ("" if there is none)."""


@record
class Program:
    """The keys of one program in all versions. `dates` are those of its versions."""

    name: str
    keys: Mapping[str, tuple[Span, ...]]
    dates: tuple[str, ...]

    def at(self, date: str) -> dict[str, str]:
        """The keys on a date; without a date, every key there has been."""
        found = {}
        for key, spans in self.keys.items():
            for words, since, until in spans:
                if not date or (since <= date and (not until or date < until)):
                    found[key] = words
        return found

    def spans(self, key: str) -> tuple[Span, ...]:
        return self.keys.get(normal(key), ())


@record
class History:
    """Every program of a package. `releases` are dates by version."""

    package: str
    programs: Mapping[str, Program]
    releases: Mapping[str, str]

    def schema(self, program: str, date: str) -> Schema:
        """The keys of a program on a date, with those of the programs that it contains."""
        return _schema(self, program, date)

    def dates(self, program: str) -> tuple[str, ...]:
        """The dates on which the keys of a program, or of one that it contains, changed; the newest first."""
        found = set(self.programs[program].dates)
        for inner in _contained(self, program):
            found |= set(self.programs[inner].dates)
        first = self.programs[program].dates[0]
        return tuple(sorted((date for date in found if date >= first), reverse=True))

    def newest_accepting(self, program: str, keys: Iterable[str]) -> str:
        """The newest date on which the program knows all these keys, else that on which it knows most of them."""
        written = tuple(keys)
        turns = {date for key in written for span in self._spans(program, key) for date in span[1:] if date}
        dates = self.dates(program)
        fewest = len(written) + 1
        best = dates[0]
        for date in (date for date in dates if date == dates[0] or date in turns or _before(dates, date) in turns):
            lacking = len(self.unknown(program, date, written))
            if lacking < fewest:
                fewest, best = lacking, date
            if not lacking:  # making a schema takes milliseconds
                break
        return best

    def unknown(self, program: str, date: str, keys: Iterable[str]) -> tuple[str, ...]:
        """The keys that the program lacks on a date."""
        schema = self.schema(program, date)
        return tuple(key for key in keys if schema.type_of(key) is None)

    def union(self, program: str) -> Schema:
        """Every key that the program has had."""
        return _made(self.package, program, "")

    def _spans(self, program: str, key: str) -> Iterator[Span]:
        """The spans of a key and of the tables above it, in the program and in those that it contains."""
        parts = normal(key).split(".")
        keys = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
        for name, prefix in ((program, ""), *_fields_of(self, program)):
            for one in keys:
                if one.startswith(prefix):
                    yield from self.programs[name].spans(one.removeprefix(prefix))

    def lacks(self, program: str, key: str) -> bool:
        """Whether no version has a key, nor a table above it that takes any key."""
        spans = self._spans(program, key)
        return not any(ANY in span[0].split("|") for span in spans) and self.union(program).type_of(key) is None

    def refuses(self, program: str, key: str, value: object) -> bool:
        """Whether every version that has a key refuses a value for its type."""
        kinds = {span[0] for span in self._own_spans(program, normal(key))}
        schemas = [Schema({normal(key): kind}) for kind in kinds]
        return bool(schemas) and all(schema.why_wrong(key, value) is not None for schema in schemas)

    def told(self, program: str, key: str) -> str:
        """When versions had a key: `until 2026-02-24`, `since 2026-05-05`; "" if none had it."""
        spans = self._own_spans(program, normal(key))
        if not spans:
            return ""
        since, until = min(span[1] for span in spans), max(span[2] or "9" for span in spans)
        return f"had it from {since} until {until}" if until != "9" else f"has it since {since}"

    def _own_spans(self, program: str, inner: str) -> tuple[Span, ...]:
        """The spans of a key itself, in the program and in those that it contains."""
        spans = self.programs[program].spans(inner)
        for reference, prefix in _fields_of(self, program):
            if inner.startswith(prefix):
                spans = (*spans, *self.programs[reference].spans(inner.removeprefix(prefix)))
        return spans


@functools.cache
def history(name: str) -> History:
    """The stored table of a package: `prime_rl` or `skyrl`."""
    with gzip.open(os.path.join(FOLDER, f"{name}_schemas.json.gz"), "rt", encoding="utf-8") as file:
        stored: Mapping[str, Any] = json.load(file)
    programs = {
        program: Program(
            program, {key: tuple(map(tuple, spans)) for key, spans in found["keys"].items()}, tuple(found["dates"])
        )
        for program, found in stored["programs"].items()
    }
    return History(stored["package"], programs, stored["releases"])


@functools.lru_cache(maxsize=64)
def _keys(package: str, program: str, date: str) -> dict[str, str]:
    return history(package.replace("-", "_")).programs[program].at(date)


@functools.lru_cache(maxsize=64)
def _made(package: str, program: str, date: str) -> Schema:
    stored = history(package.replace("-", "_"))
    keys = dict(_keys(package, program, date))
    for key, words in list(keys.items()):
        for word in words.split("|"):
            inner = word.removeprefix("@")
            if word.startswith("@") and inner in stored.programs:
                keys.update((f"{key}.{name}", kind) for name, kind in _keys(package, inner, date).items())
    return Schema(keys)


def _schema(stored: History, program: str, date: str) -> Schema:
    return _made(stored.package, program, date)


def _fields_of(stored: History, program: str) -> Iterator[tuple[str, str]]:
    """The programs that this one contains, each with the prefix of its keys."""
    for reference in sorted(_contained(stored, program)):
        for key, spans in stored.programs[program].keys.items():
            if any(f"@{reference}" in span[0].split("|") for span in spans):
                yield reference, f"{key}."


def _before(dates: tuple[str, ...], date: str) -> str:
    """The version after a date; `dates` has the newest first."""
    at = dates.index(date)
    return dates[at - 1] if at else ""


def _contained(stored: History, program: str) -> frozenset[str]:
    """The programs whose configuration is a table in that of this one."""
    words = {word for spans in stored.programs[program].keys.values() for kind in spans for word in kind[0].split("|")}
    return frozenset(word[1:] for word in words if word.startswith("@") and word[1:] in stored.programs)
