"""The record of a rule of a framework on several settings, and of what it refuses (CFG012)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from skyrl_train.config.releases import ALWAYS, Span
from skyrl_train.contracts.record import record

Own = Callable[[str], Any]
"""The value of one of the framework's keys; None if it is not set or not known."""


def whole(value: object) -> int | None:
    """The value, if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


@record(kw_only=True)
class Refusal:
    """What a framework refuses, at which key, and the settings to change, to remove or to rename.

    `words` are the values that the key takes: the one nearest to a misspelt value is its cure.
    """

    key: str
    message: str
    settings: Mapping[str, str] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    remedy: str = ""
    """What to do, if it is not one edit."""


@record
class Rule:
    """A rule, the keys without whose values it is silent, and the releases that have it.

    A release that lacks a key of the rule refuses the key already, so `span` tells only of rules that changed.
    """

    reads: tuple[str, ...]
    judge: Callable[[Own], Iterator[Refusal]]
    span: Span = ALWAYS
    is_certain: bool = True
    """False if another file or the command line may hold what the rule misses: then it only warns."""
    is_validated: bool = False
    """True if each program that calls the framework's own check of the settings refuses, whatever words it adds."""
