"""What the parts of one script share: limits, functions, the way out of loops and functions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from skyrl_doctor.plan.syntax.shell_assign import Assigner
from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_script import OpenFile, Script
from skyrl_doctor.plan.syntax.shell_tree import Text
from skyrl_doctor.plan.syntax.shell_values import Piece, Word
from skyrl_doctor.plan.syntax.shell_words import Expander

MOST_STEPS = 20_000
MOST_COMMANDS = 4_000
MOST_BYTES = 16 << 20
MOST_ROUNDS = 100
MOST_DEPTH = 20
MOST_FILES = 16


class LeaveError(Exception):
    """The script leaves a loop, a function or itself: break, continue, return, exit."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(slots=True)
class Budget:
    """What is left of the limits that all parts of one script share."""

    steps: int = MOST_STEPS
    bytes: int = MOST_BYTES
    files: int = MOST_FILES
    depth: int = 0


@dataclass(slots=True)
class Function:
    body: Any
    text: Text


@dataclass(slots=True)
class Shared:
    """What a script and its subshells share."""

    script: Script
    open_file: OpenFile
    budget: Budget = field(default_factory=Budget)
    functions: dict[str, Function] = field(default_factory=dict)
    written: dict[str, Word] = field(default_factory=dict)
    """The files that the script writes with a here-document, by path."""
    marked: list[Piece] = field(default_factory=list)
    """The unknown pieces of texts that eval reads."""


class Follower(Protocol):
    """What follows statements: one text in one scope."""

    shared: Shared
    scope: Scope
    text: Text
    expander: Expander
    assigner: Assigner
    outputs: list[Piece] | None
    document: Word | None

    def block(self, nodes: Iterable[Any]) -> None: ...
    def statement(self, node: Any) -> None: ...
    def number(self, text: str) -> int | None: ...
    def started_file(self, text: Text, scope: Scope) -> None: ...
