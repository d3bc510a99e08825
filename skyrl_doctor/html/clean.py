"""Removes secrets from everything that a page will show, before any of it becomes HTML."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def cleaned(value: T, redact: Callable[[str], str]) -> T:
    """The same records, with each text redacted."""
    once = functools.lru_cache(maxsize=1 << 16)(redact)

    def walk(one: Any) -> Any:
        if type(one) is str:
            return once(one)
        if dataclasses.is_dataclass(one) and not isinstance(one, type):
            fields = {field.name: getattr(one, field.name) for field in dataclasses.fields(one) if field.init}
            changed = {name: new for name, old in fields.items() if (new := walk(old)) is not old}
            return dataclasses.replace(one, **changed) if changed else one
        if isinstance(one, tuple | list):
            items = [walk(item) for item in one]
            return one if all(new is old for new, old in zip(items, one, strict=True)) else type(one)(items)
        if isinstance(one, Mapping):
            return {walk(name): walk(item) for name, item in one.items()}
        return one

    result: T = walk(value)
    return result
