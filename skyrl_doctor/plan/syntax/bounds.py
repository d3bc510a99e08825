"""The limits of what a configuration may hold, for all formats. Configurations come from anyone.

A short text can stand for a very large value: aliases and interpolations that double, or brackets that open for ever.
Each limit is far above what real configurations need, and is checked before the value is made.
"""

import re
from collections.abc import Iterator
from typing import Any

from skyrl_doctor.core.errors import UsageError

MAX_DEPTH = 40
MAX_NODES = 50_000
MAX_INTERPOLATIONS = 1_000
MAX_LETTERS = 1 << 20
_OPENERS = 400
_SCALAR = "scalar"
_INDENT = re.compile(r"^ {200}", re.MULTILINE)
_REPEATED = re.compile(r"(?:[-?][ \t]+){8}")
_DOTTED = re.compile(r"[\w-]+(?:[ \t]{0,8}\.[ \t]{0,8}[\w-]+){100}")


def refuse_deep_yaml(yaml: Any, loader: type[Any], text: str, file: str) -> None:
    """Raises UsageError for YAML that is nested too deep. PyYAML itself ends the process with a signal there.

    Reading the events costs as much as reading the text, so ordinary text is not read twice.
    """
    if not (text.count("[") + text.count("{") > _OPENERS or _INDENT.search(text) or _REPEATED.search(text)):
        return
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            depth -= 1
        if depth > MAX_DEPTH:
            raise too_large(file)


def refuse_large_yaml(yaml: Any, root: Any, file: str) -> None:
    """Raises UsageError for a tree of nodes that is too large or too deep with its aliases, or contains itself."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    todo: list[tuple[Any, bool]] = [(root, False)]
    while todo:
        node, is_done = todo.pop()
        children = tuple(_children(yaml, node))
        if is_done:
            open_nodes.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes.get(id(child), 1) for child in children)
            if sizes[id(node)] > MAX_NODES:
                raise too_large(file)
        elif id(node) in open_nodes:
            raise too_large(file)
        elif id(node) not in sizes:
            open_nodes.add(id(node))
            if len(open_nodes) > MAX_DEPTH * 2:  # keys and values of the way down
                raise too_large(file)
            todo.append((node, True))
            todo.extend((child, False) for child in children if child.id != _SCALAR and id(child) not in sizes)


def refuse_long_keys(text: str, file: str) -> None:
    """Raises UsageError for TOML with a key of a hundred parts: tomllib takes quadratic time and memory for those."""
    if _DOTTED.search(text):
        raise UsageError(f"target {file}: nested deeper than {MAX_DEPTH} tables")


def too_large(file: str) -> UsageError:
    return UsageError(f"target {file}: more than {MAX_NODES} values or {MAX_DEPTH} levels with its aliases")


def _children(yaml: Any, node: Any) -> Iterator[Any]:
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value
