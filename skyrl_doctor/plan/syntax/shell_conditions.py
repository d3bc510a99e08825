"""Decides `[ … ]` and `[[ … ]]` of a shell script, as far as its values are known."""

import re

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.plan.syntax.shell_arithmetic import UnclearError
from skyrl_doctor.plan.syntax.shell_patterns import matches
from skyrl_doctor.plan.syntax.shell_quotes import UnclosedError, tokens
from skyrl_doctor.plan.syntax.shell_values import text_of, unknown_of
from skyrl_doctor.plan.syntax.shell_words import Expander

_FILES = frozenset(
    ("-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-b", "-c", "-p", "-S", "-t", "-nt", "-ot", "-ef")
)
_NUMBERS = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_TEXTS = ("=", "==", "!=", "=~", "<", ">")
_MOST_DEPTH = 40
_PLAIN_REGEX = re.compile(r"[\w^$.\[\]+*?|()\\/:,= -]{1,80}")


def decide(text: str, expander: Expander) -> bool | None:
    """The result of the condition between the brackets; None if it is not known."""
    try:
        parts = [part for token in tokens(text) for part in _split(token)]
        reader = _Reader(parts, expander)
        value = reader.either()
    except (CouldNotLook, UnclearError, UnclosedError, IndexError):
        return None
    return value if reader.at == len(parts) else None


def _split(token: str) -> list[str]:
    """Brackets at the ends of a token, as in `(-z x)`."""
    if token.startswith("(") and len(token) > 1 and not token.endswith(")"):
        return ["(", *_split(token[1:])]
    if token.endswith(")") and len(token) > 1 and "(" not in token:
        return [*_split(token[:-1]), ")"]
    return [token]


class _Reader:
    def __init__(self, parts: list[str], expander: Expander) -> None:
        self._parts, self._expander, self.at, self._depth = parts, expander, 0, 0

    def either(self) -> bool | None:
        value = self._both()
        while self._take("||", "-o"):
            other = self._both()
            value = True if value or other else (None if value is None or other is None else False)
        return value

    def _both(self) -> bool | None:
        value = self._negated()
        while self._take("&&", "-a"):
            other = self._negated()
            value = False if value is False or other is False else (None if value is None or other is None else True)
        return value

    def _negated(self) -> bool | None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise UnclosedError("nested too deeply")
        if self._take("!"):
            value = self._negated()
            value = None if value is None else not value
        elif self._take("("):
            value = self.either()
            if not self._take(")"):
                raise UnclosedError("( is not closed")
        else:
            value = self._primary()
        self._depth -= 1
        return value

    def _primary(self) -> bool | None:
        first = self._parts[self.at]
        second = self._parts[self.at + 1] if self.at + 1 < len(self._parts) else ""
        if second in _NUMBERS or second in _TEXTS:
            third = self._parts[self.at + 2]
            self.at += 3
            return self._compared(first, second, third)
        if first.startswith("-") and len(first) > 1 and second not in ("", "&&", "||", ")"):
            self.at += 2
            return self._unary(first, second)
        self.at += 1
        text = self._text(first)
        return None if text is None else text != ""

    def _unary(self, operator: str, operand: str) -> bool | None:
        if operator in _FILES:
            # no file is taken to exist: the default of a script is what it does in a new place
            self._expander.scope.assume()
            return False
        text = self._text(operand)
        if text is None or operator not in ("-z", "-n", "-v"):
            return None
        return (text == "") == (operator == "-z")

    def _compared(self, left: str, operator: str, right: str) -> bool | None:
        first, second = self._text(left), self._text(right)
        if first is None or second is None:
            return None
        if operator in _NUMBERS:
            return bool(_NUMBERS[operator](self._number(left), self._number(right)))
        if operator == "=~":
            return bool(re.search(second, first)) if _PLAIN_REGEX.fullmatch(second) and len(first) < 400 else None
        if operator in ("<", ">"):
            return (first < second) == (operator == "<")
        is_quoted = right[:1] in "'\""
        is_equal = first == second if is_quoted or not set(second) & set("*?[") else matches(first, second)
        return is_equal != (operator == "!=")

    def _number(self, text: str) -> int:
        return self._expander.number(self._text(text) or "0")

    def _text(self, token: str) -> str | None:
        value = self._expander.value(token)
        return None if unknown_of(value) else text_of(value)

    def _take(self, *parts: str) -> bool:
        if self.at < len(self._parts) and self._parts[self.at] in parts:
            self.at += 1
            return True
        return False
