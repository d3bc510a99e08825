"""Evaluates $((…)) of a shell script: whole numbers, variables, the usual operators."""

from collections.abc import Callable
from typing import Any

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
}
_LARGEST = 1 << 63


class UnclearError(ValueError):
    """The expression has no known value, for the reason in the message."""


def evaluate(node: Any, number_of: Callable[[str], int]) -> int:
    """The value of a node of an arithmetic expansion. Raises UnclearError."""
    kind, text = node.type, node.text.decode("utf-8", "replace")
    named = node.named_children
    if kind == "number":
        return _number(text)
    if kind in ("variable_name", "word", "simple_expansion"):
        return _number(text) if text.isdigit() else number_of(text.lstrip("$"))
    if kind == "expansion":
        return _expansion(named, text, number_of)
    if kind in ("arithmetic_expansion", "parenthesized_expression") and len(named) == 1:
        return evaluate(named[0], number_of)
    if kind == "unary_expression" and len(named) == 1:
        return _signed(node.children[0].type, evaluate(named[0], number_of))
    if kind == "ternary_expression" and len(named) == 3:
        return evaluate(named[1] if evaluate(named[0], number_of) else named[2], number_of)
    if kind == "binary_expression" and len(named) == 2:
        return _binary(node.children[1].type, evaluate(named[0], number_of), evaluate(named[1], number_of))
    raise UnclearError(f"{text} is not supported")


def _expansion(named: list[Any], text: str, number_of: Callable[[str], int]) -> int:
    name = named[0].text.decode("utf-8", "replace") if named else ""
    try:
        return number_of(name)
    except UnclearError:
        if len(named) == 2 and ":-" in text:
            return evaluate(named[1], number_of)
        raise


def _binary(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise UnclearError("division by zero")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - right * quotient
    if operator == "**" and 0 <= right <= 64:
        return _bounded(left**right)
    if operator not in _BINARY:
        raise UnclearError(f"operator {operator} is not supported")
    return _bounded(_BINARY[operator](left, right))


def _bounded(value: int) -> int:
    if abs(value) >= _LARGEST:
        raise UnclearError("larger than 64 bits")
    return value


def _signed(operator: str, value: int) -> int:
    if operator not in ("-", "+", "!"):
        raise UnclearError(f"operator {operator} is not supported")
    return -value if operator == "-" else int(not value) if operator == "!" else value


def _number(text: str) -> int:
    try:
        return _bounded(int(text, 8) if text.startswith("0") and text.isdigit() and text != "0" else int(text, 0))
    except ValueError:
        raise UnclearError(f"{text} is not a whole number") from None
