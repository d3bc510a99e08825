"""The variables of a running script: its own, those of the environment, and its arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skyrl_doctor.plan.syntax.shell_values import Piece, Value, Variable, Word, known

MOST_VARIABLES = 4096


@dataclass(slots=True)
class Scope:
    """What names mean at one point of a script.

    `arguments` are those of a function or of `set --`; None for those of the script itself, which are not known.
    `directory` is the current directory, or None if it is not known.
    """

    environ: Mapping[str, str]
    script: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)
    arguments: tuple[Word, ...] | None = None
    directory: str | None = None
    is_assuming: bool = False
    """Whether a name that is not set counts as empty, as in a condition."""
    assumed: bool = False
    """Whether that happened."""
    unread: list[str] = field(default_factory=list)
    """The sourced files that were not read. They may set any name."""

    def copy(self) -> "Scope":
        """The scope of a subshell."""
        made = Scope(
            self.environ, self.script, dict(self.variables), self.arguments, self.directory, unread=self.unread
        )
        made.is_assuming = self.is_assuming
        return made

    def values(self, name: str) -> tuple[tuple[Value, ...] | None, str]:
        """The values of a variable (one, or those of an array), and the reason if it has none."""
        special = self._special(name)
        if special is not None:
            return special
        found = self.variables.get(name)
        if found is not None:
            return tuple(word.pieces for word in found.words), ""
        if name in self.environ:
            return (known(self.environ[name]),), ""
        if name == "PWD" and self.directory is not None:
            return (known(self.directory),), ""
        reason = f"{name} is not set here"
        return None, f"{reason}; {self.unread[0]} may set it, but cannot be read" if self.unread else reason

    def is_array(self, name: str) -> bool:
        found = self.variables.get(name)
        return name in ("@", "*") or (found is not None and found.is_array)

    def separator(self) -> Value:
        """What `"${NAME[*]}"` puts between its elements: the first character of IFS, a blank if that is not set."""
        found = self.variables.get("IFS")
        if found is None or not found.words:
            return known(" ")
        marks = found.words[0]
        return (Piece("", f"IFS: {marks.unknown}"),) if marks.unknown else known(marks.text[:1])

    def assume(self) -> bool:
        """Whether an unset name counts as empty here; remembers that it did."""
        self.assumed = self.assumed or self.is_assuming
        return self.is_assuming

    def set(self, variable: Variable) -> None:
        if len(self.variables) < MOST_VARIABLES or variable.name in self.variables:
            self.variables[variable.name] = variable

    def set_text(self, name: str, value: Value, line: int) -> None:
        self.set(Variable(name, (Word(value, line, (0, 0)),), line))

    def _special(self, name: str) -> tuple[tuple[Value, ...] | None, str] | None:
        if name in ("0", "BASH_SOURCE"):
            return ((known(self.script),), "") if self.script else (None, f"${name} is not known here")
        if name in ("@", "*"):
            return tuple(word.pieces for word in self.arguments or ()), ""
        if name == "#":
            if self.arguments is None:
                return (((Piece("0"),),), "") if self.assume() else (None, "$# is not known here")
            return (known(str(len(self.arguments))),), ""
        if name.isdigit():
            if self.arguments is None:
                return None, f"${name} is an argument of the script"
            at = int(name) - 1
            return (
                ((self.arguments[at].pieces,), "") if at < len(self.arguments) else (None, f"${name} is not set here")
            )
        if name == "?":
            return (known("0"),), ""
        if name in ("RANDOM", "SECONDS", "$", "!", "-", "PPID", "BASHPID", "EPOCHSECONDS", "LINENO"):
            return None, f"${name} is not known before the script runs"
        return None
