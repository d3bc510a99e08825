"""Expands words of a shell script: quotes, variables, defaults, arrays, arithmetic. The rest is unknown."""

import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.syntax.shell_arithmetic import UnclearError, evaluate

_ESCAPED = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_POSITIONAL = re.compile(r"[0-9]+|[@*]")


@record
class Word:
    """One word after expansion, with its span. `unknown` is the reason why its text is not known."""

    text: str
    line: int
    span: tuple[int, int]
    unknown: str = ""


@record
class Variable:
    """A variable and the line that sets it. An array has several words."""

    name: str
    words: tuple[Word, ...]
    line: int
    is_array: bool = False
    unknown: str = ""


@record
class Piece:
    """Part of a word. `splits` marks an unquoted variable, which bash splits at white space."""

    text: str
    splits: bool = False
    unknown: str = ""


class Expander:
    """Expands words with the variables set so far, then with the environment."""

    def __init__(self, variables: MutableMapping[str, Variable], environ: Mapping[str, str]) -> None:
        self._variables = variables
        self._environ = environ

    def words(self, node: Any) -> Iterator[Word]:
        """The words of an argument: one, none (an empty variable) or several (an array)."""
        array = self._array(node)
        if array is not None:
            yield from array
            return
        line, span = node.start_point[0] + 1, (node.start_byte, node.end_byte)
        pieces = list(self._pieces(node, quoted=False))
        unknown = next((piece.unknown for piece in pieces if piece.unknown), "")
        texts = _split(pieces)
        if _has_braces(node):
            unknown = unknown or "bash expands unquoted braces; quote the value"
        for text in texts:
            yield Word(text, line, span, unknown)

    def word(self, node: Any) -> Word:
        """The word on the right of an equals sign, which bash does not split."""
        pieces = list(self._pieces(node, quoted=False))
        unknown = next((piece.unknown for piece in pieces if piece.unknown), "")
        text = "".join(piece.text for piece in pieces)
        return Word(text, node.start_point[0] + 1, (node.start_byte, node.end_byte), unknown)

    def _array(self, node: Any) -> tuple[Word, ...] | None:
        """`"${A[@]}"` and `$@` as whole arguments."""
        inner = node
        while inner.type == "string" and len(inner.named_children) == 1:
            inner = inner.named_children[0]
        if inner.type == "simple_expansion" and _text(inner)[1:] in ("@", "*"):
            return ()  # the script is not called, so it has no arguments
        if inner.type != "expansion" or not inner.named_children or inner.named_children[0].type != "subscript":
            return None
        name, _, index = _text(inner.named_children[0]).partition("[")
        if index.rstrip("]") not in ("@", "*"):
            return None
        found = self._variables.get(name)
        if found is None:
            unset = f"the array {name} is not set here"
            return (Word(_text(node), node.start_point[0] + 1, (node.start_byte, node.end_byte), unset),)
        return tuple(Word(word.text, word.line, word.span, word.unknown or found.unknown) for word in found.words)

    def _pieces(self, node: Any, *, quoted: bool) -> Iterator[Piece]:
        kind, text = node.type, _text(node)
        if kind in ("word", "number", "variable_name", "special_variable_name", "regex"):
            yield Piece(_ESCAPED.sub(_unescaped, text))
        elif kind == "string_content":
            yield Piece(_ESCAPED_IN_QUOTES.sub(_unescaped, text))
        elif kind == "raw_string":
            yield Piece(text[1:-1])
        elif kind == "ansi_c_string":
            yield Piece(text[2:-1], unknown="" if "\\" not in text else "contains C escapes")
        elif kind == "string":
            yield from self._string(node)
        elif kind == "concatenation":
            for child in node.children:
                yield from self._pieces(child, quoted=quoted)
        elif kind in ("simple_expansion", "expansion"):
            yield self._variable(node, quoted=quoted)
        elif kind == "arithmetic_expansion":
            yield self._arithmetic(node)
        else:
            yield Piece(text, unknown=_why(kind))

    def _string(self, node: Any) -> Iterator[Piece]:
        """The pieces between double quotes. The grammar has no nodes for blanks there."""
        at = node.start_byte + 1
        for child in node.named_children:
            gap = child.start_byte - at
            if gap > 0:
                yield Piece(_between(node, at, child.start_byte))
            yield from self._pieces(child, quoted=True)
            at = child.end_byte
        if node.end_byte - 1 > at:
            yield Piece(_between(node, at, node.end_byte - 1))

    def _variable(self, node: Any, *, quoted: bool) -> Piece:
        text = _text(node)
        names = [child for child in node.named_children if child.type in ("variable_name", "special_variable_name")]
        name = _text(names[0]) if names else ""
        operators = [child.type for child in node.children if not child.is_named and child.type not in ("$", "${", "}")]
        if not name:
            return Piece(text, unknown="this expansion is not supported")
        value, why = self._value(name)
        if not operators:
            return Piece(text if value is None else value, splits=not quoted, unknown=why)
        rest = [child for child in node.named_children if child.start_byte != names[0].start_byte]
        return self._defaulted(node, value, why, operators[0], rest, quoted=quoted)

    def _defaulted(
        self, node: Any, value: str | None, why: str, operator: str, rest: list[Any], *, quoted: bool
    ) -> Piece:
        """`${X:-d}` and its relatives."""
        text = _text(node)
        if operator not in (":-", "-", ":=", "=", ":?", "?", ":+", "+"):
            return Piece(text, unknown="this expansion is not supported")
        is_missing = value is None or (value == "" and operator.startswith(":"))
        if operator.endswith("?"):
            return Piece(text if is_missing else value or "", splits=not quoted, unknown=why)
        takes_other = is_missing != operator.endswith("+")
        if not takes_other:
            return Piece(value or "", splits=not quoted, unknown="" if value is None else why)
        pieces = [piece for child in rest for piece in self._pieces(child, quoted=quoted)]
        unknown = next((piece.unknown for piece in pieces if piece.unknown), "")
        if operator.endswith("="):
            self._keep(node, "".join(piece.text for piece in pieces), unknown)
        splits = not quoted and not any(child.type in ("string", "raw_string") for child in rest)
        return Piece("".join(piece.text for piece in pieces), splits=splits, unknown=unknown)

    def _keep(self, node: Any, text: str, unknown: str) -> None:
        """`${X:=d}` sets X for what follows."""
        name = _text(node.named_children[0])
        word = Word(text, node.start_point[0] + 1, (node.start_byte, node.end_byte), unknown)
        self._variables[name] = Variable(name, (word,), word.line)

    def _value(self, name: str) -> tuple[str | None, str]:
        """A variable's text, and the reason if it is unknown."""
        if _POSITIONAL.fullmatch(name):
            return None, f"${name} is an argument of the script"
        found = self._variables.get(name)
        if found is not None:
            word = found.words[0] if found.words else Word("", found.line, (0, 0))
            return word.text, word.unknown or found.unknown
        if name in self._environ:
            return self._environ[name], ""
        return None, f"{name} is not set here"

    def _arithmetic(self, node: Any) -> Piece:
        try:
            return Piece(str(evaluate(node, self._number)))
        except UnclearError as reason:
            return Piece(_text(node), unknown=str(reason))

    def _number(self, name: str) -> int:
        value, why = self._value(name)
        if why or value is None:
            raise UnclearError(why or f"{name} is not set here")
        try:
            return int(value.strip() or "0", 0)
        except ValueError:
            raise UnclearError(f"{name} is {value!r}, not a whole number") from None


def _split(pieces: list[Piece]) -> list[str]:
    """Splits unquoted variables into words; an unquoted empty variable gives no word."""
    words: list[str | None] = [None]
    for piece in pieces:
        is_unsplit = not piece.splits or bool(piece.unknown)
        first, *more = [piece.text] if is_unsplit else re.split(r"[ \t\n]+", piece.text)
        if first or is_unsplit:
            words[-1] = (words[-1] or "") + first
        words.extend(part or None for part in more)
    return [word for word in words if word is not None]


def _has_braces(node: Any) -> bool:
    """`{a,b}` outside of quotes in an argument."""
    if node.type != "concatenation":
        return False
    bare = "".join(_text(child) for child in node.children if child.type == "word")
    return re.search(r"\{[^{}]*(?:,|\.\.)[^{}]*\}", bare) is not None


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _why(kind: str) -> str:
    return {
        "command_substitution": "the output of a command is not known before it runs",
        "process_substitution": "the output of a command is not known before it runs",
        "brace_expression": "bash expands unquoted braces; quote the value",
    }.get(kind, "this shell syntax is not supported")


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace"))


def _between(node: Any, start: int, end: int) -> str:
    data: bytes = node.text
    return data[start - node.start_byte : end - node.start_byte].decode("utf-8", "replace")
