"""Defines Check and Probe, and the decorators that make them from functions.

The parameter types of a function are the facts that it needs. `X | None` gets None if X does not apply here.
"""

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.record import record

Judge = Callable[..., Iterable[Finding]]
ALL_ROLES = frozenset(Role)
_ID = re.compile(r"[A-Z]{2,8}[0-9]{3}")


@record
class Need:
    """One fact that a function takes, by its type."""

    kind: type
    optional: bool = False


@record
class Check:
    """A known failure: its permanent id, its slug, the function that finds it, and the file that prevents it."""

    id: str
    slug: str
    judge: Judge
    needs: tuple[Need, ...]
    roles: frozenset[Role]
    fix: str
    page: str
    module: str

    def __call__(self, *facts: Any) -> Iterable[Finding]:
        return self.judge(*facts)


@record
class Probe:
    """Reads one fact from a machine and from other facts, within a time limit."""

    kind: type
    name: str
    function: Callable[..., object]
    needs: tuple[Need, ...]
    limit_s: float = field(default=5.0)

    def __call__(self, *facts: Any) -> Any:
        return self.function(*facts)


def check(id: str, *, roles: Iterable[Role] = ALL_ROLES, fix: str) -> Callable[[Judge], Check]:  # noqa: A002 -- the catalogue's word
    """Makes a check from a function named after the failure. `fix` is the file that prevents it, or "operator: why not"."""
    if not _ID.fullmatch(id):
        raise ValueError(f"check id {id!r}: expected two to eight capital letters and three digits, such as GPU001")

    def wrap(judge: Judge) -> Check:
        module = judge.__module__
        page = getattr(typing.cast(Any, judge), "__globals__", {}).get("__doc__") or ""
        slug = _name(judge).replace("_", "-")
        return Check(id, slug, judge, needs_of(judge), frozenset(roles), fix, page.strip(), module)

    return wrap


def probe(*, limit_s: float = 5.0) -> Callable[[Callable[..., object]], Probe]:
    """Makes a probe from a function. Its return type is the fact that it gathers."""

    def wrap(function: Callable[..., object]) -> Probe:
        kind = typing.get_type_hints(function)["return"]
        return Probe(kind, _name(function), function, needs_of(function), limit_s)

    return wrap


def needs_of(function: Callable[..., object]) -> tuple[Need, ...]:
    """The parameter types of a function, in order."""
    hints = typing.get_type_hints(function)
    for name in inspect.signature(function).parameters:
        if name not in hints:
            raise TypeError(f"parameter {name!r} of {_name(function)} has no fact type")
    return tuple(_need(hint) for name, hint in hints.items() if name != "return")


def _need(hint: object) -> Need:
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        return Need(hint)
    inner = [part for part in typing.get_args(hint) if part is not type(None)]
    if len(inner) == 1 and isinstance(inner[0], type):
        return Need(inner[0], optional=True)
    raise TypeError(f"{hint!r} is neither a fact type nor `X | None` of one")


def _name(function: Callable[..., object]) -> str:
    return str(getattr(function, "__name__", "unnamed"))
