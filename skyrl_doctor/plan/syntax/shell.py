"""Reads the commands and variables of a shell script without running anything.

tree-sitter-bash parses the syntax, `shell_run` follows the statements, `shell_words` expands the words. A condition that
depends on a name that is not set counts it as empty, as bash does. What depends on the output of a command is unknown,
with the reason; the text around it is still read.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.source import COMMAND_LINE, Source
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
    is_broken: bool = False
    """Whether the grammar could not read a part."""


def read_script(source: Source, environ: Mapping[str, str], open_file: OpenFile = lambda _: None) -> Script:
    """Follows the script from top to bottom. Raises UsageError."""
    from skyrl_doctor.plan.syntax.shell_run import run

    script = Script()
    name = "" if source.file == COMMAND_LINE else source.file
    try:
        run(script, source.text.replace("\r\n", "\n"), name, environ, open_file)
    except RecursionError:
        raise UsageError(f"target {source.file}: nested too deeply for a shell script") from None
    return script


def assignments(script: Script) -> Iterator[Variable]:
    """The variables of the script with their last values."""
    yield from script.variables.values()
