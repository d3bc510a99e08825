"""Assignments of a shell script: variables, arrays, exports, locals, and what `read` fills."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_tree import Text
from skyrl_doctor.plan.syntax.shell_values import (
    MOST_WORDS,
    Piece,
    Value,
    Variable,
    Word,
    hidden,
    joined,
    known,
    text_of,
    unknown_of,
)
from skyrl_doctor.plan.syntax.shell_words import Expander

_DECLARES = ("export", "declare", "readonly", "local", "typeset")
_NAME = re.compile(r"(?P<name>[A-Za-z_]\w*)(?P<index>\[(?:[^\]]*)\])?(?P<plus>\+?)=(?P<value>.*)", re.DOTALL)
_KEYED = re.compile(r"\[(?P<key>[^\]]+)\]=(?P<value>.*)", re.DOTALL)
MOST_BYTES_OF_ARRAY = 1 << 18
FROM_INPUT = "it is read from input"


class Exporting(Protocol):
    """What takes the names of exported variables."""

    exported: set[str]


class Started(Protocol):
    """A simple command."""

    @property
    def words(self) -> tuple[Word, ...]: ...
    @property
    def line(self) -> int: ...
    @property
    def environment(self) -> Mapping[str, Variable]: ...


class Assigner:
    """Assigns variables in a scope. In an arm that may not run, values become unknown."""

    def __init__(self, scope: Scope, exporting: Exporting, expander: Expander) -> None:
        self._scope, self._exporting, self._expander = scope, exporting, expander
        self._locals: dict[str, Variable | None] | None = None
        self._keyed: set[str] = set()
        self.depends_on = ""
        self.exports_all = False
        self.here_string: str | None = None

    @contextmanager
    def depending(self, why: str) -> Iterator[None]:
        """Statements that may not run."""
        kept, self.depends_on = self.depends_on, self.depends_on or why
        try:
            yield
        finally:
            self.depends_on = kept

    def enter(self) -> "dict[str, Variable | None] | None":
        """Begins a function; the locals of the caller."""
        kept, self._locals = self._locals, {}
        return kept

    def leave(self, before: "dict[str, Variable | None] | None") -> None:
        """Ends a function: its locals get back what they were."""
        for name, old in (self._locals or {}).items():
            if old is None:
                self._scope.variables.pop(name, None)
            else:
                self._scope.variables[name] = old
        self._locals = before

    def assign(self, node: Any, text: Text) -> Variable | None:
        """Follows an assignment node."""
        made = self._made(node, text)
        if made is None:
            return None
        self._scope.set(self._depending(made, self._scope.variables.get(made.name)))
        if self.exports_all:
            self._exporting.exported.add(made.name)
        return made

    def local(self, node: Any, text: Text) -> Variable | None:
        """The variable of `A=1 command`, which only the command gets."""
        return self._made(node, text)

    def declare(self, node: Any, text: Text) -> None:
        """Follows export, declare, readonly, local and typeset."""
        words = [text.of(child) for child in node.children]
        options = "".join(word[1:] for word in words if word.startswith("-"))
        exports = words[:1] == ["export"] or "x" in options
        for child in node.named_children:
            name = text.of(child).partition("=")[0].removesuffix("+")
            if not name.isidentifier():
                continue
            self._declared(words[0], name, exports=exports)
            if "A" in options:
                self._keyed.add(name)
            if child.type == "variable_assignment":
                self.assign(child, text)
            elif "a" in options.lower() and name not in self._scope.variables:
                self._scope.set(Variable(name, (), text.line(node), is_array=True))

    def builtin(self, command: Started) -> bool:
        """Follows declarations that the grammar reads as plain commands, and `read`; whether it was one."""
        name = command.words[0].text
        if name in _DECLARES:
            for word in command.words[1:]:
                self._declared_word(name, word)
            return True
        if name in ("read", "mapfile", "readarray"):
            self._read(command)
            return True
        return False

    def unclear(self, bodies: Sequence[Sequence[Any]], why: str, text: Text) -> None:
        """Marks the names that arms set which were not followed, if nothing else sets them."""
        for name, line in (found for body in bodies for node in body for found in _names(node, text)):
            if name not in self._scope.variables and name not in self._scope.environ:
                self._scope.set_text(name, (Piece(f"${name}", why),), line)

    def _made(self, node: Any, text: Text) -> Variable | None:
        parts = _NAME.fullmatch(text.of(node))
        if parts is None:
            return None
        name, line = parts["name"], text.line(node)
        old = self._scope.variables.get(name)
        value_node = node.child_by_field_name("value")
        if value_node is not None and value_node.type == "array":
            made = self._array(name, value_node, text, line)
        else:
            value = self._expander.value(parts["value"])
            span = (value_node.start_byte if value_node is not None else node.end_byte, node.end_byte)
            made = Variable(name, (Word(value, line, span, text.file),), line)
            if parts["index"]:
                return self._element(old, made, parts["index"][1:-1])
        return _appended(old, made) if parts["plus"] else made

    def _array(self, name: str, node: Any, text: Text, line: int) -> Variable:
        words: list[Word] = []
        keys: list[str] = []
        parts = [child for child in node.children[1:-1] if child.type != "comment"]
        for raw, at, span in text.joined(parts):
            keyed = _KEYED.fullmatch(raw)
            if keyed is not None and name in self._keyed:
                keys.append(text_of(self._expander.value(keyed["key"])))
                words.append(Word(self._expander.value(keyed["value"]), at, span, text.file))
            else:
                words += self._expander.words(raw, at, span, text.file)
        return Variable(name, _bounded(words), line, is_array=True, keys=tuple(keys))

    def _element(self, old: Variable | None, new: Variable, index: str) -> Variable | None:
        """`A[index]=value`."""
        words, keys = list(old.words if old else ()), list(old.keys if old else ())
        if new.name in self._keyed or keys:
            key = text_of(self._expander.value(index))
            if key in keys:
                words[keys.index(key)] = new.words[0]
            else:
                keys.append(key)
                words.append(new.words[0])
            return Variable(new.name, _bounded(words), new.line, is_array=True, keys=tuple(keys))
        value = self._expander.value(index)
        at = text_of(value)
        if unknown_of(value) or not at.isdigit() or len(at) > 4 or int(at) > len(words):
            return None
        words[int(at) : int(at) + 1] = [new.words[0]]
        return Variable(new.name, _bounded(words), new.line, is_array=True)

    def _depending(self, made: Variable, old: Variable | None) -> Variable:
        """The variable, unknown where the statement may not run. What an array had before stays as it is."""
        if not self.depends_on:
            return made
        kept = len(old.words) if old is not None and made.is_array and made.words[: len(old.words)] == old.words else 0
        words = [*made.words[:kept], *(_hidden(word, self.depends_on) for word in made.words[kept:])]
        return Variable(made.name, tuple(words), made.line, made.is_array, keys=made.keys)

    def _declared(self, kind: str, name: str, *, exports: bool) -> None:
        if exports:
            self._exporting.exported.add(name)
        if kind in ("local", "declare", "typeset") and self._locals is not None and name not in self._locals:
            self._locals[name] = self._scope.variables.get(name)

    def _declared_word(self, kind: str, word: Word) -> None:
        name, equals, text = word.text.partition("=")
        if not name.isidentifier():
            return
        self._declared(kind, name, exports=kind == "export")
        if equals:
            value = (Piece(text, word.unknown),) if word.unknown else known(text)
            made = Variable(name, (Word(value, word.line, word.span, word.file),), word.line)
            self._scope.set(self._depending(made, self._scope.variables.get(name)))

    def _read(self, command: Started) -> None:
        """`read A B`, `read -ra LIST <<< text`, `mapfile -t LIST`."""
        words = [word.text for word in command.words[1:]]
        is_list = command.words[0].text != "read" or any(word.startswith("-") and "a" in word for word in words)
        names = [word for word in words if word.isidentifier()]
        value = self._expander.value(self.here_string) if self.here_string else (Piece("", FROM_INPUT),)
        if is_list and names and not unknown_of(value):
            separators = command.environment.get("IFS")
            marks = text_of(separators.words[0].pieces) if separators is not None else " \t\n"
            parts = [part for part in re.split(f"[{re.escape(marks)}]+", text_of(value)) if part]
            found = tuple(Word(known(part), command.line, (0, 0)) for part in parts)
            self._scope.set(Variable(names[-1], _bounded(found), command.line, is_array=True))
            return
        for name in names:
            unknown: Value = (Piece(f"${name}", FROM_INPUT),)
            self._scope.set(Variable(name, (Word(unknown, command.line, (0, 0)),), command.line, is_list, FROM_INPUT))


def _appended(old: Variable | None, new: Variable) -> Variable:
    """`NAME+=value`."""
    if old is None:
        return new
    if old.is_array or new.is_array:
        words = _bounded((*old.words, *new.words))
        return Variable(new.name, words, new.line, is_array=True, keys=(*old.keys, *new.keys))
    first, second = old.words[0], new.words[0]
    word = Word(joined((*first.pieces, *second.pieces)), new.line, second.span, second.file)
    return Variable(new.name, (word,), new.line)


def _bounded(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words of an array, or one unknown word if there are too many."""
    if len(words) <= MOST_WORDS and sum(len(word.text) for word in words) <= MOST_BYTES_OF_ARRAY:
        return tuple(words)
    return (Word((Piece("…", "the array is too long"),), words[0].line, words[0].span, words[0].file),)


def _hidden(word: Word, why: str) -> Word:
    return Word(hidden(word.pieces, why), word.line, word.span, word.file)


def _names(node: Any, text: Text) -> Iterator[tuple[str, int]]:
    """The names that assignments below a node set."""
    stack, left = [node], 2000
    while stack and left:
        one = stack.pop()
        left -= 1
        if one.type == "variable_assignment":
            found = _NAME.match(text.of(one))
            if found is not None:
                yield found["name"], text.line(one)
        else:
            stack.extend(reversed(one.named_children))
