"""Reads TOML into leaves. tomllib parses the values; a scanner finds their locations."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.bounds import MAX_DEPTH, refuse_long_keys
from skyrl_doctor.plan.syntax.leaf import Leaf, Part, Path
from skyrl_doctor.plan.syntax.toml_places import Position, find_positions


def parse(source: Source) -> dict[str, Any]:
    """Parses the text. Raises UsageError for invalid TOML and duplicate keys."""
    refuse_long_keys(source.text, source.file)
    try:
        return tomllib.loads(source.text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise UsageError(f"target {source.file}: not valid TOML: {reason}") from None


def leaves(source: Source) -> tuple[Leaf, ...]:
    """Every value and every table with its location."""
    table = parse(source)
    if _depth(table) > MAX_DEPTH:
        raise UsageError(f"target {source.file}: nested deeper than {MAX_DEPTH} tables")
    found = find_positions(source.text)
    return tuple(_leaf(path, value, found.get(path)) for path, value in _walk(table, ()))


def _leaf(path: Path, value: Any, place: Position | None) -> Leaf:
    is_table = isinstance(value, dict) or _is_tables(value)
    if place is None:
        return Leaf(path, value, is_table=is_table)
    return Leaf(path, value, place.line, place.span, is_table=is_table)


def _walk(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if path:
        yield path, node
    children: Iterator[tuple[Part, Any]]
    if isinstance(node, Mapping):
        children = iter(node.items())
    elif _is_tables(node):
        children = iter(enumerate(node))
    else:
        return
    for name, child in children:
        yield from _walk(child, (*path, name))


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _depth(root: Any) -> int:
    """The depth of nesting, without recursion, because the depth is not yet limited."""
    deepest, todo = 0, [(root, 1)]
    while todo:
        node, depth = todo.pop()
        deepest = max(deepest, depth)
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        todo.extend((child, depth + 1) for child in inner)
    return deepest
