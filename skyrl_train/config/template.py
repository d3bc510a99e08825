"""Writes a commented run.toml: every key with its default, or the keys of a run that is known."""

import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby

from skyrl_train.config.reference import Setting, settings, tables, toml

WIDTH = 110


def defaults() -> str:
    """Every key. Those with a default are comments, so the file says nothing until a line is changed."""
    return "\n".join(_tables({}, every=True)).strip() + "\n"


def written(values: Mapping[str, object], notes: tuple[str, ...] = (), last: tuple[str, ...] = ()) -> str:
    """The keys of `values`, each under its meaning; `notes` are comments at the top, `last` those at the end."""
    return "\n".join([*_comments(notes), *_tables(values, every=False), "", *_comments(last)]).strip() + "\n"


def _comments(lines: tuple[str, ...]) -> Iterator[str]:
    """Not wrapped: a line has paths and names, which must stay whole."""
    yield from (f"# {part}".rstrip() for line in lines for part in line.split("\n"))


def _tables(values: Mapping[str, object], *, every: bool) -> Iterator[str]:
    about = tables()
    for table, group in groupby(settings(), key=lambda one: one.table):
        members = [one for one in group if every or one.key in values]
        if not members:
            continue
        yield ""
        if about[table]:
            yield f"# {about[table]}"
        if members[0].key == table:  # a key without a table, such as env
            yield f"[{table}]" if members[0].kind.startswith("table") else ""
            yield from _pairs(values.get(table))
            continue
        yield f"[{table}]"
        for one in members:
            yield from _key(one, values, every=every)


def _pairs(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (f"{name} = {toml(one)}" for name, one in value.items())


def _key(one: Setting, values: Mapping[str, object], *, every: bool) -> Iterator[str]:
    name = one.key.partition(".")[2]
    kind = f" ({one.kind}{f', {one.limits}' if one.limits else ''})" if every else ""
    yield from (f"# {line}" for line in textwrap.wrap(f"{one.meaning}{kind}", WIDTH))
    if one.key in values:
        yield f"{name} = {toml(values[one.key])}"
    elif one.is_required:
        yield f'{name} = "…"  # must be set'
    else:
        yield f"# {name} = {one.default or '…'}"
