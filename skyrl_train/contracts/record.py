"""Frozen records that are fast to define.

`dataclass(frozen=True)` compiles methods for each class at every start, which takes more than a millisecond per class on a
slow core. A preflight loads about 200 classes, and batch scripts wait for it. Here all classes share the methods.
`dataclasses.replace`, `asdict`, `fields` and match statements work as usual; type checkers see a dataclass.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def record(cls: type[T]) -> type[T]: ...
@overload
def record(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(cls: type[T] | None = None, *, kw_only: bool = False) -> type[T] | Callable[[type[T]], type[T]]:
    """Makes a class a frozen record: fields by position or by name, equality, hash and repr."""
    if cls is None:
        return lambda decorated: _made(decorated, kw_only)
    return _made(cls, kw_only)


def _made(cls: type[T], kw_only: bool) -> type[T]:  # noqa: FBT001 -- a helper of the decorator
    own = vars(cls)
    shared: dict[str, Any] = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}
    for name, method in {**shared, "__setattr__": _refuse, "__delattr__": _refuse}.items():
        if name not in own or name == "__hash__":
            setattr(cls, name, method)
    return dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)


def _init(self: Any, *args: Any, **named: Any) -> None:
    positional, defaults, names = _shape(self.__class__)
    values = {**defaults, **dict(zip(positional, args, strict=False)), **named}
    if values.keys() != names or len(args) > len(positional) or not named.keys().isdisjoint(positional[: len(args)]):
        values = _checked(self, args, named)
    self.__dict__.update(values)
    if hasattr(self, "__post_init__"):
        self.__post_init__()


@functools.cache
def _shape(cls: type) -> tuple[tuple[str, ...], dict[str, Any], frozenset[str]]:
    """The fields that may be given by position, the values of those that have a default, and all names."""
    fields: dict[str, dataclasses.Field[Any]] = cls.__dataclass_fields__  # type: ignore[attr-defined] # a record is a dataclass
    known = {name: field.default for name, field in fields.items() if field.default is not dataclasses.MISSING}
    return cls.__match_args__, known, frozenset(fields)  # type: ignore[attr-defined] # likewise


def _checked(self: Any, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The values with those of default factories. Raises TypeError for what does not fit the fields."""
    fields = self.__dataclass_fields__
    values = dict(zip(self.__match_args__, args, strict=False))
    if len(args) > len(self.__match_args__):
        raise TypeError(f"{type(self).__name__} takes {len(self.__match_args__)} values by position, got {len(args)}")
    for name, value in named.items():
        if name in values or name not in fields:
            raise TypeError(
                f"{type(self).__name__} got {name!r} twice"
                if name in values
                else f"{type(self).__name__} has no field {name!r}"
            )
        values[name] = value
    return {name: values[name] if name in values else _default(self, field) for name, field in fields.items()}


def _default(self: Any, field: "dataclasses.Field[Any]") -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    raise TypeError(f"{type(self).__name__} needs {field.name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name, field in self.__dataclass_fields__.items() if field.compare)


def _repr(self: Any) -> str:
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({values})"


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _refuse(self: Any, name: str, *_: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change {name!r} of a {type(self).__name__}")
