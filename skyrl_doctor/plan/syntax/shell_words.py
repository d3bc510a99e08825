"""Expands the words of a shell script from their text: quotes, variables, arrays, arithmetic, command output."""

import re
from collections.abc import Callable
from dataclasses import replace

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.plan.syntax.shell_arithmetic import UnclearError, evaluate
from skyrl_doctor.plan.syntax.shell_parameters import Parameter, expanded, parameter, replacement
from skyrl_doctor.plan.syntax.shell_quotes import (
    UnclosedError,
    as_in_double_quotes,
    end_of_brackets,
    end_of_double_quotes,
)
from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_values import (
    MOST_WORDS,
    NOT_BEFORE_IT_RUNS,
    Piece,
    Value,
    Word,
    joined,
    known,
    text_of,
    unknown_of,
)

_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]")
_PLAIN = re.compile(r"[^\\'\"$`]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\\\"$`]+")
_WHOLE_ARRAY = re.compile(
    r"\$(?:\{(?P<name>[A-Za-z_]\w*)\[[@*]\]\}|[@*]|\{[@*]\})"
    r'|"\$(?:\{(?P<quoted_name>[A-Za-z_]\w*)\[@\]\}|@|\{@\})"'
)
_ONLY_ARRAY = re.compile(r"\$(?:@|\{@[^{}]*\}|\{[A-Za-z_]\w*\[@\][^{}]*\})")
_BRACES = re.compile(r"(?<![$\\])\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
_QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\{[^}]*\}", re.DOTALL)
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "e": "\x1b"}
MOST_DEPTH = 30

Capture = Callable[[str], Value]
"""The output of the command in `$(…)`."""


class Fields:
    """The words that one text becomes. Unquoted expansions split at blanks."""

    def __init__(self, *, splits: bool) -> None:
        self._splits = splits
        self._done: list[list[Piece]] = []
        self._open: list[Piece] | None = None

    def add(self, value: Value, *, quoted: bool) -> None:
        """Adds a value; quoted, or where words do not split, it stays whole and may be empty."""
        if quoted or not self._splits:
            self._open = [*(self._open or []), *value]
            return
        for piece in value:
            first, *more = [piece.text] if piece.unknown else re.split(r"[ \t\n]+", piece.text)
            if first:
                self._open = [*(self._open or []), Piece(first, piece.unknown)]
            for part in more:
                self.end()
                self._open = [Piece(part)] if part else None

    def end(self) -> None:
        if self._open is not None:
            self._done.append(self._open)
        self._open = None
        if len(self._done) > MOST_WORDS:
            raise CouldNotLook(f"more than {MOST_WORDS} words")

    def done(self) -> list[Value]:
        self.end()
        return [joined(pieces) for pieces in self._done]


class Expander:
    """Expands texts in a scope."""

    def __init__(self, scope: Scope, capture: Capture, depth: int = 0) -> None:
        self.scope, self._capture, self._depth = scope, capture, depth

    def words(self, text: str, line: int, span: tuple[int, int], file: str = "") -> list[Word]:
        """The words of an argument: one, none (an empty variable) or several (an array)."""
        whole = _WHOLE_ARRAY.fullmatch(text)
        if whole is not None:
            name = whole["name"] or whole["quoted_name"] or "@"
            found = self._elements(name)
            if found is not None:
                return list(found)
            return [Word((Piece(text, f"the array {name} is not set here"),), line, span, file)]
        if text.startswith(("<(", ">(")):
            return [Word((Piece(text, NOT_BEFORE_IT_RUNS),), line, span, file)]
        fields = Fields(splits=True)
        self._emit(self._home(text, fields), fields, quoted=False)
        values = fields.done()
        if "{" in text and _BRACES.search(_QUOTED.sub("", text)) and "$(" not in text:
            values = [(Piece(text_of(value), "bash expands unquoted braces; quote the value"),) for value in values]
        return [Word(value, line, span, file) for value in values]

    def value(self, text: str) -> Value:
        """The value on the right of an equals sign, which bash does not split."""
        fields = Fields(splits=False)
        self._emit(self._home(text, fields), fields, quoted=False)
        return _in_one(fields.done())

    def document(self, text: str) -> Value:
        """The text of a here-document, in which quotes are letters and variables are expanded."""
        fields = Fields(splits=False)
        self._emit(text.replace('\\"', '\\\\"'), fields, quoted=True)
        return _in_one(fields.done())

    def _home(self, text: str, fields: Fields) -> str:
        """Adds the home directory for a ~ at the beginning; the text after it."""
        if text[:1] != "~" or text[1:2] not in ("", "/") or "HOME" not in self.scope.environ:
            return text
        fields.add(known(self.scope.environ["HOME"]), quoted=True)
        return text[1:]

    def number(self, text: str) -> int:
        """The value of an arithmetic expression. Raises UnclearError."""
        value = self.value(text.replace('"', "")) if "$" in text or "`" in text else known(text)
        unknown = unknown_of(value)
        if unknown:
            raise UnclearError(unknown)
        return evaluate(text_of(value), self._variable_number, self._assign_number)

    def _elements(self, name: str) -> tuple[Word, ...] | None:
        """The words of an array or of the arguments with their own places; None if a file that was not read may set it."""
        if name in ("@", "*"):
            return self.scope.arguments or ()
        found = self.scope.variables.get(name)
        if found is not None:
            return found.words
        if name in self.scope.environ:
            return (Word(known(self.scope.environ[name]), 0, (0, 0)),)
        return None if self.scope.unread else ()  # the environment has no arrays

    def _emit(self, text: str, fields: Fields, *, quoted: bool, splits: bool = False) -> None:
        """Adds a text. `splits`: its own blanks end a word, as those of a default that is not quoted."""
        if self._depth > MOST_DEPTH:
            fields.add((Piece(text, "nested too deeply"),), quoted=True)
            return
        self._depth += 1
        at = 0
        while at < len(text):
            at = self._part(text, at, fields, quoted=quoted, splits=splits)
        self._depth -= 1

    def _part(self, text: str, at: int, fields: Fields, *, quoted: bool, splits: bool) -> int:
        """Reads one part of a word; the index after it."""
        first, second = text[at], text[at + 1 : at + 2]
        if first == "\\":
            if quoted and second not in '$`"\\\n':
                fields.add(known(first + second), quoted=True)
            elif second != "\n":
                fields.add(known(second), quoted=True)
            return at + 2
        if first == "'" and not quoted:
            end = text.find("'", at + 1)
            end = len(text) if end < 0 else end
            fields.add(known(text[at + 1 : end]), quoted=True)
            return end + 1
        if first == '"' and not quoted:
            end = _or_end(text, lambda: end_of_double_quotes(text, at + 1))
            if _ONLY_ARRAY.fullmatch(text[at + 1 : end]) is None:  # an empty array is no word
                fields.add((), quoted=True)
            self._emit(text[at + 1 : end], fields, quoted=True)
            return end + 1
        if first == "`":
            end = text.find("`", at + 1)
            end = len(text) if end < 0 else end
            fields.add(self._output(text[at : end + 1], text[at + 1 : end]), quoted=quoted)
            return end + 1
        if first == "$":
            return self._dollar(text, at, fields, quoted=quoted)
        plain = (_PLAIN_IN_QUOTES if quoted else _PLAIN).match(text, at)
        end = plain.end() if plain else at + 1
        fields.add(known(text[at:end]), quoted=not splits)
        return end

    def _dollar(self, text: str, at: int, fields: Fields, *, quoted: bool) -> int:
        second = text[at + 1 : at + 2]
        if second == "'" and not quoted:
            return self._ansi(text, at, fields)
        if second == '"' and not quoted:
            return at + 1
        if second in ("(", "{"):
            end = _or_end(text, lambda: end_of_brackets(text, at + 2, second, quoted=quoted and second == "{"))
            raw, inner = text[at : end + 1], text[at + 2 : end]
            if second == "{":
                self._parameter(raw, inner, fields, quoted=quoted)
            elif inner.startswith("(") and inner.endswith(")"):
                fields.add(self._arithmetic(raw, inner[1:-1]), quoted=quoted)
            else:
                fields.add(self._output(raw, inner), quoted=quoted)
            return end + 1
        name = _NAME.match(text, at + 1)
        if name is None:
            fields.add(known("$"), quoted=True)
            return at + 1
        self._parameter(name[0] and text[at : name.end()], name[0], fields, quoted=quoted)
        return name.end()

    def _parameter(self, raw: str, inner: str, fields: Fields, *, quoted: bool) -> None:
        """`$NAME` or `${…}`."""
        found = parameter(inner)
        if quoted and found is not None and found.operator[-1:] in ("-", "+", "="):
            found = replace(found, text=_or_same(found.text))
        text = replacement(found, self.scope) if found is not None and not quoted else None
        if text is not None:
            self._emit(self._home(text, fields), fields, quoted=False, splits=True)
            return
        values = self._values(found, raw)
        if quoted and found is not None and "*" in (found.index, found.name) and values:
            mark = self.scope.separator()
            values = [
                tuple(piece for number, value in enumerate(values) for piece in (*(mark if number else ()), *value))
            ]
        for number, value in enumerate(values):
            if number:
                fields.end() if quoted else fields.add(known(" "), quoted=False)
            fields.add(value, quoted=quoted)

    def _values(self, found: Parameter | None, raw: str) -> list[Value]:
        if found is None:
            return [(Piece(raw, "this expansion is not supported"),)]
        try:
            return expanded(found, raw, self.scope, self)
        except (CouldNotLook, UnclearError) as reason:
            return [(Piece(raw, str(reason)),)]

    def _ansi(self, text: str, at: int, fields: Fields) -> int:
        """`$'…'` with its escapes."""
        match = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL).match(text, at)
        if match is None:
            fields.add((Piece(text[at:], "a quote ' is not closed"),), quoted=True)
            return len(text)
        escapes = re.findall(r"\\(.)", match[1], re.DOTALL)
        if all(escape in _ANSI for escape in escapes):
            made: Value = known(re.sub(r"\\(.)", lambda one: _ANSI[one[1]], match[1]))
        else:
            made = (Piece(match[1], "contains C escapes"),)
        fields.add(made, quoted=True)
        return match.end()

    def _arithmetic(self, raw: str, inner: str) -> Value:
        try:
            return known(str(self.number(inner)))
        except UnclearError as reason:
            return (Piece(raw, str(reason)),)

    def _output(self, raw: str, inner: str) -> Value:
        value = self._capture(inner)
        why = unknown_of(value)
        return (Piece(raw, why),) if why else value

    def _variable_number(self, name: str) -> int:
        values, why = self.scope.values(name)
        if values is None and self.scope.assume():
            return 0
        if values is None or not values or unknown_of(values[0]):
            raise UnclearError(why or (unknown_of(values[0]) if values else f"{name} is empty"))
        text = text_of(values[0]).strip()
        try:
            return int(text or "0", 0)
        except ValueError:
            raise UnclearError(f"{name} is {text[:80]!r}, not a whole number") from None

    def _assign_number(self, name: str, value: int) -> None:
        self.scope.set_text(name, known(str(value)), 0)


def _in_one(fields: list[Value]) -> Value:
    """What bash makes of several words where it does not split: `B="${A[@]}"` has a blank between the elements."""
    blank = (Piece(" "),)
    return joined(piece for at, value in enumerate(fields) for piece in (blank if at else ()) + value)


def _or_same(text: str) -> str:
    try:
        return as_in_double_quotes(text)
    except UnclosedError:
        return text


def _or_end(text: str, find: Callable[[], int]) -> int:
    """The index that is found, or the end of the text if a bracket is not closed."""
    try:
        return find()
    except UnclosedError:
        return len(text)
