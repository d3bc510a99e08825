"""Every setting of a RunConfig with its type, default and meaning: for `config`, for the pages and for a new run.toml."""

import difflib
import functools
import json
import pkgutil
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from skyrl_train.config.run import RunConfig
from skyrl_train.config.sections.base import Section
from skyrl_train.config.synonyms import likely_settings, other_names
from skyrl_train.contracts.record import record

_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than", "pattern": "matches"}


@record
class Setting:
    """One key. `default` is TOML, or empty if the key must be set or has no default. `limits` are in words."""

    key: str
    kind: str
    default: str
    is_required: bool
    limits: str
    meaning: str

    @property
    def table(self) -> str:
        return self.key.partition(".")[0]

    @property
    def theirs(self) -> Mapping[str, str]:
        """The key in each framework that has it."""
        return named_as().get(self.key, {})


def settings() -> tuple[Setting, ...]:
    """All settings in the order of the tables."""
    return tuple(_of(RunConfig, ""))


def tables() -> Mapping[str, str]:
    """The meaning of each table."""
    return {name: field.description or "" for name, field in RunConfig.model_fields.items()}


def find(key: str) -> Setting | None:
    """The setting with this key of ours, else with this key of a framework."""
    every = settings()
    ours = (one for one in every if key == one.key)
    return next(ours, None) or next((one for one in every if key in one.theirs.values()), None)


def closest(key: str) -> list[str]:
    """Keys that were probably meant: those with this last part, else the most similar ones."""
    known = [one.key for one in settings()]
    same = [name for name in known if name.rpartition(".")[2] == key.rpartition(".")[2]]
    return same or likely_settings(key) or difflib.get_close_matches(key, known, n=3)


def search(words: Sequence[str]) -> list[Setting]:
    """The settings of this name, else those that have all words in their names, else in their meaning."""
    exact = [one for one in settings() if one.key.rpartition(".")[2] == "_".join(words)]
    patterns = [re.compile(rf"(?:\b|_){re.escape(word)}", re.IGNORECASE) for word in " ".join(words).split()]
    names = {one.key: " ".join((one.key, one.theirs.get("verl", ""), *other_names(one.key))) for one in settings()}
    named = [one for one in settings() if all(pattern.search(names[one.key]) for pattern in patterns)]
    return (
        exact
        or named
        or [one for one in settings() if all(pattern.search(f"{names[one.key]} {one.meaning}") for pattern in patterns)]
    )


def read_by() -> Mapping[str, list[str]]:
    """The checks that read each key. `python -m skyrl_doctor.docs` writes the file from the checks."""
    data = pkgutil.get_data("skyrl_train.config", "read_by.json") or b"{}"
    found: dict[str, list[str]] = json.loads(data)
    return found


@functools.cache
def named_as() -> Mapping[str, Mapping[str, str]]:
    """The name of each key in verl, SkyRL and prime-rl. `python -m skyrl_doctor.docs` writes the file from their tables."""
    data = pkgutil.get_data("skyrl_train.config", "named_as.json") or b"{}"
    found: dict[str, dict[str, str]] = json.loads(data)
    return found


def toml(value: object) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(name))} = {toml(one)}" for name, one in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _of(section: type[Section], prefix: str) -> Iterator[Setting]:
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _of(kind, f"{prefix}{name}.")
        else:
            yield _setting(f"{prefix}{name}", field)


def _setting(key: str, field: FieldInfo) -> Setting:
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    written = "" if default is None else toml(default)
    return Setting(key, _kind(field.annotation), written, field.is_required(), _limits(field), field.description or "")


def _kind(annotation: Any) -> str:
    """A type as the user writes its values."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(toml(value) for value in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(part) for part in parts if part is not type(None))
    if origin in (tuple, list):
        return f"list of {_kind(parts[0])}"
    if origin is dict:
        return f"table of {_kind(parts[1])}"
    names = {"str": "string", "int": "integer", "float": "number", "bool": "true or false"}
    return names.get(getattr(annotation, "__name__", ""), str(annotation))


def _limits(field: FieldInfo) -> str:
    found = ((words, getattr(limit, name, None)) for limit in field.metadata for name, words in _BOUNDS.items())
    return ", ".join(f"{words} {value}" for words, value in found if value is not None)
