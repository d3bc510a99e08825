"""Composes a Hydra configuration from its defaults lists: groups, packages, `override`, `optional`, `_self_`, choices.

The verl lane and tests/skyrl_doctor/plan/syntax/test_hydra_defaults.py hold it against Hydra.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from skyrl_doctor.core.record import record

MAX_DEPTH = 20
MAX_FILES = 500
SELF = "_self_"
_GLOBAL = "_global_"
_REFERENCE = re.compile(r"\$\{([\w@./]+)\}")


class ComposeError(ValueError):
    """Hydra would refuse the defaults lists. `key` is the group whose choice is at fault, "" if none is.

    `is_absent` is true if a file is not on the search path.
    """

    def __init__(self, message: str, key: str = "", *, is_absent: bool = False) -> None:
        super().__init__(message)
        self.key = key
        self.is_absent = is_absent


@record
class Config:
    """One file: the package of its header, its defaults list and its values."""

    package: str | None
    defaults: tuple[Any, ...]
    body: Mapping[str, Any]

    @classmethod
    def of(cls, text: str, tree: Mapping[str, Any]) -> "Config":
        """The configuration of a file's text and its parsed tree. Raises ComposeError."""
        listed = tree.get("defaults", [])
        if not isinstance(listed, list):
            raise ComposeError("defaults must be a list")
        return cls(_header(text), tuple(listed), {name: value for name, value in tree.items() if name != "defaults"})


class SearchPath(Protocol):
    """The files that Hydra finds, by path without suffix."""

    def load(self, path: str) -> Config | None: ...

    def has_group(self, group: str) -> bool: ...


@record
class Choice:
    """A group that the command line sets (`group@package=option`), adds (`+`) or deletes (`~`)."""

    key: str
    option: Any
    mode: str = ""

    @property
    def label(self) -> str:
        return f"{self.mode}{self.key}" + ("" if self.option is None else f"={self.option}")


@dataclass(slots=True)
class Composed:
    """The merged tables, and the choices that no defaults list has a place for."""

    tree: dict[str, Any] = field(default_factory=dict)
    unused: list[Choice] = field(default_factory=list)


def compose(search: SearchPath, name: str, choices: Sequence[Choice] = ()) -> Composed:
    """The configuration `name` with these choices. Raises ComposeError."""
    builder = _Builder(search, choices)
    root = _Entry(None, name)
    made = Composed()
    for result in _without_doubles(builder.expand(root, is_root=True)):
        config = search.load(result.path)
        if config is not None:
            merge(made.tree, embedded(config.body, result.package))
    builder.check_overrides()
    made.unused = [choice for choice in choices if choice.key not in builder.used]
    return made


def merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Merges tables as OmegaConf does: lists are replaced, and `???` changes nothing."""
    for name, value in more.items():
        old = into.get(name)
        if isinstance(value, Mapping):
            if isinstance(old, list):
                raise ComposeError(f"{name} is a list in one file and a table in another")
            if not isinstance(old, dict):
                old = into[name] = {}
            merge(old, value)
        elif isinstance(value, list) and isinstance(old, dict):
            raise ComposeError(f"{name} is a list in one file and a table in another")
        elif value != "???" or name not in into:
            into[name] = value


def embedded(body: Mapping[str, Any], package: str) -> Mapping[str, Any]:
    """The values under the tables of a dotted package."""
    for name in reversed(package.split(".") if package else []):
        body = {name: body}
    return body


@dataclass(slots=True)
class _Entry:
    """One entry of a defaults list. `group` is None where it names a file only."""

    group: str | None
    option: Any
    package: str | None = None
    is_override: bool = False
    is_optional: bool = False
    base: str = ""
    parent_package: str = ""
    header: str | None = None

    def under(self, base: str, parent_package: str) -> None:
        self.base, self.parent_package = base, parent_package

    @property
    def folder(self) -> str:
        """The group's path from the root of the search path."""
        own = self.group if self.group is not None else str(self.option).rpartition("/")[0]
        if str(self.option if self.group is None else own).startswith("/"):
            return own.lstrip("/")
        return "/".join(part for part in (self.base, own) if part)

    @property
    def path(self) -> str:
        """The file's path without its suffix, which a defaults list may write."""
        text = str(self.option).removesuffix(".yaml").removesuffix(".yml")
        if self.group is not None:
            return f"{self.folder}/{text}"
        return text[1:] if text.startswith("/") else f"{self.base}/{text}" if self.base else text

    def final_package(self, *, with_header: bool = True) -> str:
        package = self.package
        if package == "_here_":
            package = ""
        if package is None and with_header:
            package = self.header
        if package is None:
            own = self.group if self.group is not None else str(self.option).rpartition("/")[0]
            package = own.lstrip("/").replace("/", ".")
        if "_group_" in package:
            package = f"{_GLOBAL}.{package.replace('_group_', self.folder.replace('/', '.'))}"
        whole = ".".join(part for part in (self.parent_package, package) if part)
        return whole.rpartition(_GLOBAL)[2].lstrip(".") if _GLOBAL in whole else whole

    @property
    def key(self) -> str:
        """The name under which the command line chooses its option."""
        package = self.final_package(with_header=False)
        same = package == self.folder.replace("/", ".")
        return self.folder if same else f"{self.folder}@{package or _GLOBAL}"


@record
class _Result:
    path: str
    package: str
    key: str = ""


class _Builder:
    """Walks the defaults lists in Hydra's order: the last entry first, entries with references at the end."""

    def __init__(self, search: SearchPath, choices: Sequence[Choice]) -> None:
        self._search = search
        self._chosen: dict[str, Any] = {choice.key: choice.option for choice in choices if choice.mode == ""}
        self._deleted = {choice.key: choice.option for choice in choices if choice.mode == "~"}
        self._added = [choice for choice in choices if choice.mode == "+"]
        self._options: dict[str, Any] = {}
        self._overridden: list[str] = []
        self._files = 0
        self.used: set[str] = {choice.key for choice in self._added}

    def expand(self, entry: _Entry, *, is_root: bool = False, is_late: bool = False, depth: int = 0) -> list[_Result]:
        """The files of an entry and of its own defaults list, in the order of merging."""
        self._files += 1
        if depth > MAX_DEPTH or self._files > MAX_FILES:
            raise ComposeError("the defaults lists are too deep or name each other")
        if entry.group is not None and self._is_deleted(entry):
            return []
        self._remember(entry)
        if entry.option is None:
            return []
        config = self._load(entry)
        if config is None:
            return []
        entry.header = config.package
        entries = list(_entries(config.defaults))
        if entries or (is_root and self._added):
            _put_self(entries)
        if is_root:
            entries += [_added(choice) for choice in self._added]
        if not entries:
            return [_Result(entry.path, entry.final_package(), entry.key if entry.group is not None else "")]
        self._take_overrides(entry, entries, is_late=is_late)
        return self._children(entry, entries, is_late=is_late, depth=depth)

    def check_overrides(self) -> None:
        """Raises ComposeError if a file overrides a group that no defaults list has."""
        unused = next((key for key in self._overridden if key not in self.used), None)
        if unused is not None:
            raise ComposeError(f"a defaults list overrides {unused}, but no defaults list has it")

    def _children(self, entry: _Entry, entries: list[_Entry], *, is_late: bool, depth: int) -> list[_Result]:
        base, package = entry.folder, entry.final_package()
        groups: list[list[_Result] | _Entry] = []
        for child in reversed(entries):
            if child.group is None and child.option == SELF:
                groups.append([_Result(entry.path, package)])
                continue
            if child.is_override:
                continue
            child.under(base, package)
            if child.group is not None and child.key in self._chosen:
                self.used.add(child.key)
                child.option = self._chosen[child.key]
            if isinstance(child.option, list):
                groups.extend(self._several(child, base, package, is_late=is_late, depth=depth))
            elif isinstance(child.option, str) and "${" in child.option:
                groups.append(child)
            else:
                groups.append(self.expand(child, is_late=is_late, depth=depth + 1))
        made: list[list[_Result]] = []
        for group in groups:
            if isinstance(group, _Entry):
                group.option = self._referred(group.option)
                made.append(self.expand(group, is_late=True, depth=depth + 1))
            else:
                made.append(group)
        if not groups:
            return [_Result(entry.path, package, entry.key if entry.group is not None else "")]
        return [result for results in reversed(made) for result in results]

    def _several(self, child: _Entry, base: str, package: str, *, is_late: bool, depth: int) -> Iterator[list[_Result]]:
        """`group: [a, b]` is each of its files."""
        for option in reversed(child.option):
            one = _Entry(None, f"{child.group}/{option}", child.package, is_optional=child.is_optional)
            one.under(base, package)
            yield self.expand(one, is_late=is_late, depth=depth + 1)

    def _load(self, entry: _Entry) -> Config | None:
        if entry.option == "???":
            raise ComposeError(f"{entry.key} needs a choice: use {entry.key}=OPTION", entry.key)
        config = self._search.load(entry.path)
        if config is None and not entry.is_optional:
            raise ComposeError(f"no file {entry.path}.yaml", entry.key, is_absent=True)
        return config

    def _take_overrides(self, entry: _Entry, entries: list[_Entry], *, is_late: bool) -> None:
        for child in entries:
            if not child.is_override:
                continue
            if is_late:
                raise ComposeError(f"{entry.path}: a file chosen by a reference cannot override groups")
            child.under(entry.folder, entry.final_package())
            if not child.folder.startswith("hydra/"):
                self._chosen.setdefault(child.key, child.option)
                self._overridden.append(child.key)

    def _remember(self, entry: _Entry) -> None:
        if entry.group is None:
            return
        key = entry.key
        if self._options.setdefault(key, entry.option) != entry.option:
            raise ComposeError(f"several values for {key}: {self._options[key]} and {entry.option}", key)

    def _is_deleted(self, entry: _Entry) -> bool:
        key = entry.key
        if key not in self._deleted or self._deleted[key] not in (None, entry.option):
            return False
        self.used.add(key)
        return True

    def _referred(self, text: str) -> str:
        def option(found: re.Match[str]) -> str:
            if found[1] not in self._options:
                raise ComposeError(f"{text}: no group {found[1]} is chosen")
            return str(self._options[found[1]])

        return _REFERENCE.sub(option, text)


def _entries(defaults: tuple[Any, ...]) -> Iterator[_Entry]:
    """The entries of a defaults list. Those of Hydra's own groups change nothing here."""
    for item in defaults:
        if isinstance(item, str):
            path, _, package = item.partition("@")
            yield _Entry(None, path, package or None)
        elif isinstance(item, Mapping) and len(item) == 1:
            key, option = next(iter(item.items()))
            *words, name = str(key).split(" ")
            group, _, package = name.partition("@")
            if not group.lstrip("/").startswith("hydra/"):
                yield _Entry(group, option, package or None, "override" in words, "optional" in words)
        else:
            raise ComposeError(f"defaults: {item!r} is neither a file nor GROUP: OPTION")


def _put_self(entries: list[_Entry]) -> None:
    has_self = any(entry.option == SELF and entry.group is None for entry in entries)
    if not entries or (not has_self and not all(entry.is_override for entry in entries)):
        entries.append(_Entry(None, SELF))


def _added(choice: Choice) -> _Entry:
    group, _, package = choice.key.partition("@")
    return _Entry(group, choice.option, package or None)


def _without_doubles(results: list[_Result]) -> list[_Result]:
    keys: set[str] = set()
    for result in results:
        if result.key and result.key in keys:
            raise ComposeError(f"{result.key} is in the defaults lists more than once", result.key)
        keys.add(result.key)
    return results


def _header(text: str) -> str | None:
    """The package of the `# @package` line, which comes before any other line."""
    for line in text.splitlines():
        words = line.strip().lstrip("#").split()
        if not line.strip():
            continue
        if not re.match(r"\s*#\s*@", line):
            return None
        if len(words) == 2 and words[0] == "@package":
            package = words[1]
            return package if package.startswith(_GLOBAL) else f"{_GLOBAL}.{package}"
    return None
