"""Reads YAML into leaves as OmegaConf does: PyYAML's rules, floats such as 1e-5, no dates.

Duplicate keys are refused. Aliases and merge keys are followed, up to a limit of values and levels.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.bounds import MAX_DEPTH, MAX_NODES, refuse_deep_yaml, refuse_large_yaml, too_large
from skyrl_doctor.plan.syntax.leaf import Leaf, Path

_FLOAT = re.compile(
    r"^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?(?:[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)"
    r"|\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_MERGE = "tag:yaml.org,2002:merge"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


def leaves(source: Source) -> tuple[Leaf, ...]:
    """Every value and every table with its location. Raises UsageError if the text is not a YAML mapping."""
    yaml = _yaml()
    try:
        refuse_deep_yaml(yaml, _loader_type(), source.text, source.file)
        loader = _loader_type()(source.text)
        try:
            root = loader.get_single_node()
            if root is None:
                raise UsageError(f"target {source.file}: the file is empty")
            if not isinstance(root, yaml.MappingNode):
                raise UsageError(f"target {source.file}: expected a YAML mapping, found a {root.id}")
            refuse_large_yaml(yaml, root, source.file)
            return tuple(_Walk(loader, source.file).table((), root))
        finally:
            loader.dispose()
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UsageError(f"target {source.file}: not valid YAML: {_one_line(error)}") from None


def tree(source: Source) -> dict[str, Any]:
    """The values as nested tables, with the rules of `leaves`. An empty file is an empty table. Raises UsageError."""
    if not any(line.strip() and not line.lstrip().startswith("#") for line in source.text.splitlines()):
        return {}
    made: dict[str, Any] = {}
    for leaf in leaves(source):
        *parents, name = leaf.path
        table: Any = made
        for part in parents:
            table = table[part]
        table[name] = leaf.value
    return {name: _listed(value) for name, value in made.items()}


def _listed(value: Any) -> Any:
    """Tables of numbered items as lists. The names of a mapping are strings."""
    if not isinstance(value, dict):
        return value
    if value and all(isinstance(name, int) for name in value):
        return [_listed(item) for item in value.values()]
    return {name: _listed(item) for name, item in value.items()}


def scalar(text: str) -> Any:
    """One value as YAML reads it: `4` a number, `[a, b]` a list, `null` nothing. Raises ValueError."""
    yaml = _yaml()
    try:
        refuse_deep_yaml(yaml, _loader_type(), text, "")
        return yaml.load(text, Loader=_loader_type())
    except UsageError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(_one_line(error)) from None


class _Walk:
    """Walks a node tree and counts nodes, so that aliases cannot make it endless."""

    def __init__(self, loader: Any, file: str) -> None:
        self._loader = loader
        self._file = file
        self._count = 0
        self._yaml = _yaml()

    def table(self, path: Path, node: Any) -> Iterator[Leaf]:
        for key_node, value_node in self._pairs(node, path):
            name = self._loader.construct_object(key_node)
            yield from self._node((*path, _key(name)), value_node, key_node)

    def _node(self, path: Path, node: Any, key_node: Any) -> Iterator[Leaf]:
        self._count += 1
        if self._count > MAX_NODES or len(path) > MAX_DEPTH:
            raise too_large(self._file)
        yaml = self._yaml
        is_tables = isinstance(node, yaml.SequenceNode) and any(
            isinstance(item, yaml.MappingNode) for item in node.value
        )
        is_table = isinstance(node, yaml.MappingNode) or is_tables
        value = None if is_table else self._loader.construct_object(node, deep=True)
        span = (node.start_mark.index, node.end_mark.index)
        yield Leaf(path, {} if is_table else value, key_node.start_mark.line + 1, span, is_table=is_table)
        if isinstance(node, yaml.MappingNode):
            yield from self.table(path, node)
        elif is_tables:
            for index, item in enumerate(node.value):
                yield from self._node((*path, index), item, item)

    def _pairs(self, node: Any, path: Path) -> Iterator[tuple[Any, Any]]:
        """The members of a mapping. Merged members come last and do not override its own."""
        seen: set[Any] = set()
        merged: list[Any] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                is_list = isinstance(value_node, self._yaml.SequenceNode)
                merged.extend(value_node.value if is_list else [value_node])
                continue
            name = self._name(key_node)
            if name in seen:
                raise UsageError(f"target {self._file}: line {key_node.start_mark.line + 1}: duplicate key {name!r}")
            seen.add(name)
            yield key_node, value_node
        for other in merged:
            if not isinstance(other, self._yaml.MappingNode) or len(path) > MAX_DEPTH:
                raise UsageError(f"target {self._file}: line {other.start_mark.line + 1}: << needs a mapping")
            for key_node, value_node in self._pairs(other, (*path, "<<")):
                name = self._name(key_node)
                if name not in seen:
                    seen.add(name)
                    yield key_node, value_node

    def _name(self, key_node: Any) -> Any:
        if not isinstance(key_node, self._yaml.ScalarNode):
            raise UsageError(f"target {self._file}: line {key_node.start_mark.line + 1}: a key must be a plain string")
        return self._loader.construct_object(key_node)


def _key(name: Any) -> str:
    """The key as a string. YAML 1.1 reads `on:` as a boolean and `1:` as a number."""
    return name if isinstance(name, str) else str(name)


def _one_line(error: BaseException) -> str:
    """PyYAML's message on one line."""
    return re.sub(r"\s+", " ", str(error)).strip() or type(error).__name__


@functools.cache
def _loader_type() -> Any:
    yaml = _yaml()
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    kept = {
        first: [(tag, pattern) for tag, pattern in pairs if tag not in (_TIMESTAMP, "tag:yaml.org,2002:float")]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    loader: Any = type("PlanLoader", (base,), {"yaml_implicit_resolvers": kept})
    loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))
    return loader


def _yaml() -> Any:
    """PyYAML, imported when a YAML file is read."""
    import yaml

    return yaml
