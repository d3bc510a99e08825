"""Evaluates $((…)) of a shell script: whole numbers, variables, the usual operators, assignments."""

import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|[0-9]+#[0-9a-zA-Z]+|[0-9]+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\*\*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|[-+*/%<>!~&|^?:=(),]))"
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<<": lambda a, b: a << b if 0 <= b < 64 else 0,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else 0,
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_LARGEST = 1 << 63
_MOST_DEPTH = 40
_MOST_TOKENS = 400


class UnclearError(ValueError):
    """The expression has no known value, for the reason in the message."""


def evaluate(text: str, number_of: Callable[[str], int], assign: Callable[[str, int], None] | None = None) -> int:
    """The value of an expression. `number_of` looks up a variable, `assign` sets one. Raises UnclearError."""
    reader = _Reader(text, number_of, assign)
    value = reader.comma()
    if reader.peek() is not None:
        raise UnclearError(f"{text.strip()} is not supported")
    return value


class _Reader:
    def __init__(self, text: str, number_of: Callable[[str], int], assign: Callable[[str, int], None] | None) -> None:
        self._text, self._number_of, self._assign = text.strip(), number_of, assign
        self._tokens, self._at, self._depth = list(_tokens(text)), 0, 0

    def peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def comma(self) -> int:
        value = self._ternary()
        while self._take(","):
            value = self._ternary()
        return value

    def _take(self, *signs: str) -> str | None:
        found = self.peek()
        if found is None or found not in signs:
            return None
        self._at += 1
        return found

    def _ternary(self) -> int:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise UnclearError("nested too deeply")
        name, sign = self.peek(), self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else ""
        if (
            name
            and name.isidentifier()
            and (sign == "=" or (sign.endswith("=") and sign[:-1] in "+-*/%&|^<<>>" and sign not in ("<=", ">=", "==")))
        ):
            self._at += 2
            value = self._ternary()
            value = value if sign == "=" else _binary(sign[:-1], self._number_of(name), value)
            self._set(name, value)
        else:
            value = self._level(0)
            if self._take("?"):
                chosen = self._ternary()
                if not self._take(":"):
                    raise UnclearError(f"{self._text} is not supported")
                other = self._ternary()
                value = chosen if value else other
        self._depth -= 1
        return value

    def _level(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._power()
        value = self._level(level + 1)
        while sign := self._take(*_LEVELS[level]):
            value = _binary(sign, value, self._level(level + 1))
        return value

    def _power(self) -> int:
        value = self._unary()
        return _binary("**", value, self._power()) if self._take("**") else value

    def _unary(self) -> int:
        sign = self._take("-", "+", "!", "~", "++", "--")
        if sign in ("++", "--"):
            name = self._tokens[self._at] if self.peek() else ""
            self._at += 1
            value = self._number_of(name) + (1 if sign == "++" else -1)
            self._set(name, value)
            return value
        if sign is None:
            return self._primary()
        value = self._unary()
        return {"-": -value, "+": value, "!": int(not value), "~": ~value}[sign]

    def _primary(self) -> int:
        token = self.peek()
        self._at += 1
        if token == "(":
            value = self.comma()
            if not self._take(")"):
                raise UnclearError(f"{self._text} is not supported")
            return value
        if token is None or not (token[0].isalnum() or token[0] == "_"):
            raise UnclearError(f"{self._text} is not supported")
        if token[0].isdigit():
            return _number(token)
        value = self._number_of(token)
        if sign := self._take("++", "--"):
            self._set(token, value + (1 if sign == "++" else -1))
        return value

    def _set(self, name: str, value: int) -> None:
        if self._assign is None or not name.isidentifier():
            raise UnclearError(f"{self._text} is not supported")
        self._assign(name, value)


def _tokens(text: str) -> "list[str]":
    found: list[str] = []
    at, text = 0, text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or len(found) > _MOST_TOKENS:
            raise UnclearError(f"{text[:80]} is not supported")
        found.append(match.group().strip())
        at = match.end()
    return found


def _binary(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise UnclearError("division by zero")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - right * quotient
    if operator == "**":
        if not 0 <= right <= 64:
            raise UnclearError(f"{left} ** {right} is not supported")
        return _bounded(left**right)
    return _bounded(_BINARY[operator](left, right))


def _bounded(value: int) -> int:
    if abs(value) >= _LARGEST:
        raise UnclearError("larger than 64 bits")
    return value


def _number(text: str) -> int:
    base, sign, digits = text.partition("#")
    try:
        if sign:
            return _bounded(int(digits, int(base)))
        return _bounded(int(text, 8) if text.startswith("0") and text.isdigit() and text != "0" else int(text, 0))
    except ValueError:
        raise UnclearError(f"{text} is not a whole number") from None
