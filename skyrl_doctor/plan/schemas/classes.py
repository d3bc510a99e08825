"""Reads pydantic models and dataclasses from Python source, as dotted keys with their types. Runs no code.

A type is a text: `int`, `float>0<=1` (bounds), `str|none`, `'a'|'b'` (literals), `{}` (a table whose keys are listed too), `[]` (a list) or `any`.
`any` also stands for what the source does not show, so that nothing is refused that may be right.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.schemas.bounds import bound_of, bounded, named_type, plain

ReadModule = Callable[[str], str | None]
"""The source of a module by its dotted name, or None."""
ANY, TABLE, LIST = "any", "{}", "[]"
MAX_DEPTH = 12
MAX_KEYS = 20_000
_SCALARS = {"int": "int", "float": "float", "bool": "bool", "str": "str", "Path": "str", "None": "none", "Any": ANY}
_LISTS = ("list", "List", "tuple", "Tuple", "set", "Set", "Sequence", "Iterable")
_TABLES = ("dict", "Dict", "Mapping")
_ROOTS = ("BaseModel", "BaseConfig", "BaseSettings", "ABC", "Generic", "object", "Protocol")
"""The ends of names of base classes without fields of their own."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KEY = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")


@record
class Owner:
    """A class and the module that defines it."""

    module: str
    node: ast.ClassDef


@dataclass(slots=True)
class _Shape:
    """What an annotation allows: words for plain types, and the classes of tables, of list items and of table values."""

    words: set[str] = field(default_factory=set)
    tables: list[Owner] = field(default_factory=list)
    items: list[Owner] = field(default_factory=list)
    values: list[Owner] = field(default_factory=list)

    def add(self, other: "_Shape") -> None:
        self.words |= other.words
        self.tables += other.tables
        self.items += other.items
        self.values += other.values


@dataclass(frozen=True, slots=True)
class _Class:
    """The fields of a class and of its bases, the names that its validators translate, and whether it takes any key."""

    fields: Mapping[str, _Shape]
    translated: frozenset[str]
    allows_more: bool


@dataclass(slots=True)
class _Module:
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    aliases: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)


class ConfigClasses:
    """The configuration classes of one version of a package."""

    def __init__(self, read: ReadModule, *, references: Mapping[tuple[str, str], str] | None = None) -> None:
        """`references`: classes by (module, name) that are written as `@NAME` instead of their keys."""
        self._read = read
        self._modules: dict[str, _Module | None] = {}
        self._classes: dict[tuple[str, str], _Class] = {}
        self._references = references or {}

    def with_references(self, references: Mapping[tuple[str, str], str]) -> "ConfigClasses":
        """The same classes, read once, with other references."""
        made = ConfigClasses(self._read, references=references)
        made._modules, made._classes = self._modules, self._classes
        return made

    def has(self, module: str, name: str) -> bool:
        return self._owner(module, name) is not None

    def keys(self, module: str, name: str) -> dict[str, str]:
        """Every dotted key of a class with its type. `a[].b` is a key of a list's items, `a.*` any key of a table."""
        owner = self._owner(module, name)
        found: dict[str, str] = {}
        if owner is not None:
            self._flatten(owner, "", found, ())
            for key in self._read_apart(owner, found):
                found.setdefault(key, ANY)
        return found

    def _read_apart(self, owner: Owner, found: Mapping[str, str]) -> Iterator[str]:
        """Keys that `from_cli_overrides` reads itself, before the fields: whole keys, and old names below a table."""
        functions = [
            one for one in owner.node.body if isinstance(one, ast.FunctionDef) and one.name == "from_cli_overrides"
        ]
        tables = [f"{key}." for key, words in found.items() if words == TABLE and "." not in key]
        for text in sorted({text for one in functions for text in _texts(one)}):
            if _KEY.fullmatch(text):
                yield text
            elif _NAME.fullmatch(text) and "_" in text:
                yield from (f"{table}{text}" for table in ("", *tables))

    def _flatten(self, owner: Owner, prefix: str, found: dict[str, str], above: tuple[str, ...]) -> None:
        label = f"{owner.module}.{owner.node.name}"
        if label in above or len(above) > MAX_DEPTH or len(found) > MAX_KEYS:
            found[f"{prefix}*"] = ANY
            return
        one_class = self._class(owner)
        for name, shape in one_class.fields.items():
            key = prefix + name
            references = {self._references.get((one.module, one.node.name)) for one in shape.tables} - {None}
            words = shape.words | {f"@{reference}" for reference in references}
            words |= {TABLE} if shape.tables or shape.values else set()
            words |= {LIST} if shape.items else set()
            found[key] = _merged(found.get(key, ""), words)
            inner = [(one, f"{key}.") for one in shape.tables if (one.module, one.node.name) not in self._references]
            inner += [(one, f"{key}[].") for one in shape.items]
            inner += [(one, f"{key}.*.") for one in shape.values]
            for one, below in inner:
                self._flatten(one, below, found, (*above, label))
        for name in one_class.translated:
            if TABLE in found.get(f"{prefix}{name}", "").split("|"):
                found[f"{prefix}{name}.*"] = ANY  # a validator may take another table under this name
        if one_class.allows_more:
            found[f"{prefix}*"] = ANY

    def _class(self, owner: Owner) -> "_Class":
        """What a class says of its keys. A class is read once, wherever it is a table."""
        label = owner.module, owner.node.name
        if label not in self._classes:
            line = self._line(owner)
            self._classes[label] = _Class(
                {one.name: self._field(one) for one in _fields(line)},
                _translated(line),
                self._allows_more(line),
            )
        return self._classes[label]

    def _field(self, found: "_Field") -> _Shape:
        shape = self._shape(found.module, found.annotation)
        shape.words = bounded(shape.words, bound_of(() if found.value is None else (found.value,)))
        if found.is_translated:
            shape.words = {plain(word) for word in shape.words}
        return shape

    def _line(self, owner: Owner) -> list[Owner]:
        """The class and its bases, nearest first."""
        line, todo = [owner], [owner]
        while todo and len(line) < 50:
            one = todo.pop(0)
            bases = [self._named(one.module, base) for base in one.node.bases]
            todo += [base for base in bases if base is not None]
            line += [base for base in bases if base is not None]
        return line

    def _allows_more(self, line: Sequence[Owner]) -> bool:
        """Whether the class takes keys that its source does not name."""
        for one in line:
            text = " ".join(ast.unparse(statement) for statement in one.node.body if _is_model_config(statement))
            if re.search(r"extra\W+(?:allow|ignore)", text):
                return True
            outside = (_last(base) for base in one.node.bases if self._named(one.module, base) is None)
            if any(not name.endswith(_ROOTS) for name in outside):
                return True
        return False

    def _shape(self, module: str, node: ast.expr, depth: int = 0) -> _Shape:
        shape = _Shape()
        if depth > MAX_DEPTH:
            shape.words.add(ANY)
            return shape
        match node:
            case ast.Constant(value=None):
                shape.words.add("none")
            case ast.Constant(value=str(text)):
                try:
                    return self._shape(module, ast.parse(text, mode="eval").body, depth + 1)
                except (SyntaxError, ValueError):
                    shape.words.add(ANY)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                shape.add(self._shape(module, left, depth + 1))
                shape.add(self._shape(module, right, depth + 1))
            case ast.Subscript(value=value, slice=inner):
                shape.add(self._generic(module, _last(value), inner, depth))
            case ast.Name() | ast.Attribute():
                shape.add(self._plain(module, node, depth))
            case _:
                shape.words.add(ANY)
        return shape

    def _generic(self, module: str, name: str, inner: ast.expr, depth: int) -> _Shape:
        shape = _Shape()
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        if name in ("Annotated", "ClassVar", "Final", "Type", "SkipValidation"):
            shape = self._shape(module, parts[0], depth + 1)
            shape.words = bounded(shape.words, bound_of(parts[1:]))
            return shape
        if name == "Literal":
            shape.words |= {_literal(part) for part in parts}
        elif name in ("Optional", "Union"):
            for part in parts:
                shape.add(self._shape(module, part, depth + 1))
            if name == "Optional":
                shape.words.add("none")
        elif name in _LISTS:
            of = self._shape(module, parts[0], depth + 1)
            shape.words.add(LIST)
            shape.items += of.tables
        elif name in _TABLES:
            of = self._shape(module, parts[-1], depth + 1)
            shape.words.add(TABLE if of.tables and not of.words else ANY)
            shape.values += of.tables
        else:
            shape.words.add(ANY)
        return shape

    def _plain(self, module: str, node: ast.expr, depth: int) -> _Shape:
        name = _last(node)
        shape = _Shape()
        owner = self._named(module, node)
        if owner is not None:
            if any(_last(base) in ("Enum", "StrEnum", "IntEnum") for base in owner.node.bases):
                shape.words.add(ANY)
            else:
                shape.tables.append(owner)
            return shape
        alias = self._alias(module, name)
        if alias is not None:
            return self._shape(alias[0], alias[1], depth + 1)
        shape.words.add(_SCALARS.get(name) or named_type(name) or (LIST if name in _LISTS else ANY))
        return shape

    def _named(self, module: str, node: ast.expr) -> Owner | None:
        return self._owner(module, _last(node))

    def _owner(self, module: str, name: str, depth: int = 0) -> Owner | None:
        found = self._module(module)
        if found is None or depth > MAX_DEPTH:
            return None
        if name in found.classes:
            return Owner(module, found.classes[name])
        if name in found.imports:
            return self._owner(*found.imports[name], depth=depth + 1)
        return None

    def _alias(self, module: str, name: str, depth: int = 0) -> tuple[str, ast.expr] | None:
        found = self._module(module)
        if found is None or depth > MAX_DEPTH:
            return None
        if name in found.aliases:
            return module, found.aliases[name]
        return self._alias(*found.imports[name], depth=depth + 1) if name in found.imports else None

    def _module(self, name: str) -> _Module | None:
        if name not in self._modules:
            source = self._read(name)
            try:
                self._modules[name] = None if source is None else _parsed(ast.parse(source), name)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._modules[name] = None
        return self._modules[name]


def _parsed(tree: ast.Module, name: str) -> _Module:
    made = _Module()
    for node in tree.body:
        match node:
            case ast.ClassDef():
                made.classes[node.name] = node
            case ast.ImportFrom(module=module, names=names, level=level):
                package = name.rsplit(".", level)[0] if level else ""
                origin = ".".join(part for part in (package, module or "") if part)
                made.imports.update({one.asname or one.name: (origin, one.name) for one in names})
            case ast.AnnAssign(target=ast.Name(id=alias), value=ast.expr() as value):
                made.aliases[alias] = value
            case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Subscript() | ast.BinOp() | ast.Name() as value):
                made.aliases[alias] = value
    return made


@record
class _Field:
    """`is_translated`: a validator that runs before the bounds are compared names it, and may change its value."""

    name: str
    module: str
    annotation: ast.expr
    value: ast.expr | None = None
    is_translated: bool = False


def _fields(line: Sequence[Owner]) -> Iterator[_Field]:
    """The fields of a class and of its bases. A field of the class hides that of a base."""
    fields: dict[str, _Field] = {}
    translated: set[str] = set()
    statements = [(one.module, each) for one in reversed(line) for each in one.node.body]
    for module, statement in statements:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names = (statement.target.id, *_other_names(statement))
            kept = (name for name in names if not name.startswith("_") and name != "model_config")
            fields.update({name: _Field(name, module, statement.annotation, statement.value) for name in kept})
        elif isinstance(statement, ast.FunctionDef) and _runs_before(statement):
            translated |= _mentioned(statement) | _decorated(statement)
            for name in _mentioned(statement):  # a validator may take an old name and translate it
                fields.setdefault(name, _Field(name, module, ast.Constant(Ellipsis)))
    for one in fields.values():
        yield replace(one, is_translated="*" in translated or one.name in translated)


def _decorated(function: ast.FunctionDef) -> set[str]:
    """The fields that `@field_validator("a", "b")` names."""
    calls = [one for one in function.decorator_list if isinstance(one, ast.Call)]
    texts = (one.value for call in calls for one in call.args if isinstance(one, ast.Constant))
    return {text for text in texts if isinstance(text, str)}


def _translated(line: Sequence[Owner]) -> frozenset[str]:
    """The names that validators take out of the data before the fields are read."""
    functions = [one for each in line for one in each.node.body if isinstance(one, ast.FunctionDef)]
    calls = [node for one in functions if _runs_before(one) for node in ast.walk(one) if isinstance(node, ast.Call)]
    popped = (node.args[0] for node in calls if node.args and _last(node.func) == "pop")
    return frozenset(node.value for node in popped if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _other_names(statement: ast.AnnAssign) -> Iterator[str]:
    """The aliases that `Field(…)` gives, in the value or in `Annotated[…]`."""
    for node in ast.walk(statement):
        if isinstance(node, ast.keyword) and node.arg in ("alias", "validation_alias"):
            yield from (
                inner.value
                for inner in ast.walk(node)
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
            )


def _runs_before(function: ast.FunctionDef) -> bool:
    return any("validator" in text and "before" in text for text in map(ast.unparse, function.decorator_list))


def _mentioned(function: ast.FunctionDef) -> set[str]:
    """The names that a function's code mentions as texts."""
    return {text for text in _texts(function) if _NAME.fullmatch(text)}


def _texts(function: ast.FunctionDef) -> set[str]:
    """The texts in a function's code, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return {
        node.value
        for one in body
        for node in ast.walk(one)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _is_model_config(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "model_config" for target in targets)


def _last(node: ast.expr) -> str:
    """The name after the last dot; of `Generic[T]`, `Generic`."""
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "|" not in node.value:
        return repr(node.value)
    return repr(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | bool) else ANY


def _merged(old: str, words: set[str]) -> str:
    return "|".join(sorted(words | (set(old.split("|")) if old else set())))
