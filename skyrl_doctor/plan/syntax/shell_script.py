"""What is read of a shell script: its commands, variables and comments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell_values import Variable, Word

OpenFile = Callable[[str], Source | None]
"""A file that the script sources or starts, under the name at which it was found; None if it cannot be read."""


@record
class Job:
    """The options that sbatch reads of a job which a script submits: lines with their numbers, and the file they are in."""

    lines: tuple[tuple[int, str], ...]
    file: str = ""

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)


@record
class Command:
    """One simple command: its words, the variables set only for it, and the exported ones that are known.

    `document` is the here-document that it reads, `job` the job that it is part of, if the script itself submits that job.
    `file` holds the command, and is empty for the target itself. It begins in line `start`, where its words may be those of
    a variable, with places of their own.
    """

    words: tuple[Word, ...]
    line: int
    environment: Mapping[str, Variable] = field(default_factory=dict)
    exported: Mapping[str, str] = field(default_factory=dict)
    document: Word | None = None
    job: Job | None = None
    file: str = ""
    start: int = 0

    @property
    def name(self) -> str:
        return self.words[0].text if self.words else ""


@record
class PassedOver:
    """A training in line `training` that does not start, because the condition in line `line` does not hold here."""

    training: int
    program: str
    line: int
    condition: str
    file: str = ""


@dataclass(slots=True)
class Script:
    """The content of a script, in order. `sourced` are files that it sources and that were not read."""

    variables: dict[str, Variable] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    commands: list[Command] = field(default_factory=list)
    sourced: list[str] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    """The text of each file that it writes with a here-document."""
    passed_over: list[PassedOver] = field(default_factory=list)
    body_line: int = 0
    """The first line that is neither empty nor a comment; 0 if there is none. sbatch reads its options above it."""
    is_broken: bool = False
    """Whether the grammar could not read a part."""
