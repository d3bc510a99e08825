"""What is read of a shell script: its commands, variables and comments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.syntax.shell_values import Variable, Word

OpenFile = Callable[[str], str | None]
"""The text of a file that the script sources or starts, or None if it cannot be read."""


@record
class Command:
    """One simple command: its words, and the variables set only for it."""

    words: tuple[Word, ...]
    line: int
    environment: Mapping[str, Variable] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.words[0].text if self.words else ""


@dataclass(slots=True)
class Script:
    """The content of a script, in order. `sourced` are files that it sources and that were not read."""

    variables: dict[str, Variable] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    commands: list[Command] = field(default_factory=list)
    sourced: list[str] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    body_line: int = 0
    """The first line that is neither empty nor a comment; 0 if there is none. sbatch reads its options above it."""
    is_broken: bool = False
    """Whether the grammar could not read a part."""
