"""Reads the variables and commands of a shell script without running anything.

tree-sitter-bash parses the syntax. A value that depends on a command, a branch or an unset variable is kept as
written, with the reason why it is unknown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell_tree import parse
from skyrl_doctor.plan.syntax.shell_words import Expander, Variable, Word

_BRANCHES = {
    "if_statement": "if",
    "while_statement": "loop",
    "for_statement": "loop",
    "c_style_for_statement": "loop",
    "case_statement": "case",
}
_DECLARES = ("export", "declare", "readonly", "local", "typeset")
_SOURCES = ("source", ".")


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
    """The content of a script, in order. `sourced` are files that it sources; they are not read."""

    variables: dict[str, Variable] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    commands: list[Command] = field(default_factory=list)
    sourced: list[str] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    is_broken: bool = False


def read_script(source: Source, environ: Mapping[str, str]) -> Script:
    """Reads the script from top to bottom. Raises UsageError."""
    data = source.text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
    try:
        root = parse(data)
        walk = _Walk(data, environ)
        walk.block(root, "")
    except RecursionError:
        raise UsageError(f"target {source.file}: nested too deeply for a shell script") from None
    walk.script.is_broken = bool(root.has_error)
    return walk.script


class _Walk:
    def __init__(self, data: bytes, environ: Mapping[str, str]) -> None:
        self.script = Script()
        self._data = data
        self._expand = Expander(self.script.variables, environ)

    def block(self, node: Any, depends_on: str) -> None:
        """Reads the statements of a block. `depends_on` names the branch that decides whether they run."""
        for child in node.children:
            self._statement(child, depends_on)

    def _statement(self, node: Any, depends_on: str) -> None:
        kind = node.type
        if kind == "variable_assignment":
            self._assign(node, depends_on)
        elif kind == "declaration_command":
            self._declare(node, depends_on)
        elif kind == "command":
            self._command(node, depends_on)
        elif kind == "comment":
            self.script.comments.append((node.start_point[0] + 1, node.text.decode("utf-8", "replace")))
        elif kind in _BRANCHES:
            self.block(node, f"depends on the {_BRANCHES[kind]} in line {node.start_point[0] + 1}")
        elif node.is_named and kind not in ("test_command", "command_substitution"):
            self.block(node, depends_on)  # lists, pipelines, subshells, redirected statements, groups

    def _assign(self, node: Any, depends_on: str) -> Variable | None:
        name_node = node.child_by_field_name("name")
        value_node = node.child_by_field_name("value")
        if name_node is None or name_node.type != "variable_name":
            return None  # NAME[index]=…, which configurations do not use
        made = self._variable(name_node.text.decode(), value_node, node, depends_on)
        if any(child.type == "+=" for child in node.children):
            made = _appended(self.script.variables.get(made.name), made)
        self.script.variables[made.name] = made
        return made

    def _variable(self, name: str, value_node: Any, node: Any, depends_on: str) -> Variable:
        line = node.start_point[0] + 1
        if value_node is None:
            return Variable(name, (Word("", line, (node.end_byte, node.end_byte), depends_on),), line)
        if value_node.type == "array":
            words = tuple(
                word
                for child in value_node.named_children
                if child.type != "comment"
                for word in self._expand.words(child)
            )
            words = tuple(Word(word.text, word.line, word.span, depends_on or word.unknown) for word in words)
            return Variable(name, words, line, is_array=True)
        word = self._expand.word(value_node)
        return Variable(name, (Word(word.text, line, word.span, word.unknown or depends_on),), line)

    def _declare(self, node: Any, depends_on: str) -> None:
        exports = node.children[0].type == "export" if node.children else False
        for child in node.named_children:
            if child.type == "variable_assignment":
                made = self._assign(child, depends_on)
                if exports and made is not None:
                    self.script.exported.add(made.name)
            elif child.type == "variable_name" and exports:
                self.script.exported.add(child.text.decode())

    def _command(self, node: Any, depends_on: str) -> None:
        assigned = [child for child in node.children if child.type == "variable_assignment"]
        name_node = node.child_by_field_name("name")
        if name_node is None or self._ends_line(assigned, name_node):
            for child in assigned:
                self._assign(child, depends_on)
            assigned = []
        if name_node is None:
            return
        words: list[Word] = []
        for child in node.children:
            if child is not None and child.is_named and child.type not in ("variable_assignment", "file_redirect"):
                inner = child.named_children[0] if child.type == "command_name" and child.named_children else child
                words.extend(self._expand.words(inner))
        if not words:
            return
        environment = {made.name: made for child in assigned if (made := self._local(child, depends_on))}
        self._keep(Command(tuple(words), words[0].line, environment), depends_on)

    def _keep(self, command: Command, depends_on: str) -> None:
        if command.name in _DECLARES:
            self._declare_words(command, depends_on)
        elif command.name in _SOURCES and len(command.words) > 1:
            self.script.sourced.append(command.words[1].text)
        else:
            self.script.commands.append(command)

    def _declare_words(self, command: Command, depends_on: str) -> None:
        """Reads `export A=b` that the grammar parses as a plain command."""
        for word in command.words[1:]:
            name, equals, text = word.text.partition("=")
            if command.name == "export" and name.isidentifier():
                self.script.exported.add(name)
            if equals and name.isidentifier():
                value = Word(text, word.line, word.span, word.unknown or depends_on)
                self.script.variables[name] = Variable(name, (value,), word.line)

    def _local(self, node: Any, depends_on: str) -> Variable | None:
        name_node = node.child_by_field_name("name")
        if name_node is None or name_node.type != "variable_name":
            return None
        return self._variable(name_node.text.decode(), node.child_by_field_name("value"), node, depends_on)

    def _ends_line(self, assigned: list[Any], name_node: Any) -> bool:
        """Whether the command is on the line after `A=1 B=2`. The grammar joins them, bash does not."""
        if not assigned:
            return False
        between = self._data[assigned[-1].end_byte : name_node.start_byte]
        return b"\n" in between.replace(b"\\\n", b"")


def _appended(old: Variable | None, new: Variable) -> Variable:
    if old is None:
        return new
    if old.is_array or new.is_array:
        return Variable(new.name, (*old.words, *new.words), new.line, is_array=True, unknown=old.unknown or new.unknown)
    first, second = old.words[0], new.words[0]
    joined = Word(first.text + second.text, new.line, second.span, first.unknown or second.unknown)
    return Variable(new.name, (joined,), new.line)


def assignments(script: Script) -> Iterator[Variable]:
    """The variables of the script with their last values."""
    yield from script.variables.values()
