"""Expands ${…}: defaults, lengths, parts, patterns, letter case, elements of arrays."""

import re
from typing import Protocol

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.syntax.shell_patterns import replaced, without_prefix, without_suffix
from skyrl_doctor.plan.syntax.shell_quotes import UnclosedError, end_of_brackets
from skyrl_doctor.plan.syntax.shell_scope import Scope
from skyrl_doctor.plan.syntax.shell_values import Piece, Value, known, text_of, unknown_of

_PARAMETER = re.compile(
    r"(?P<prefix>[#!])?(?P<name>[A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?P<index>\[[^\]]*\])?(?P<rest>.*)", re.DOTALL
)
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##|#|%%|%|//|/|\^\^|\^|,,|,|:")


@record
class Parameter:
    """A parsed `${…}`: `${#X}` has the prefix #, `${X[1]}` the index 1, `${X:-d}` the operator :- and the text d."""

    name: str
    prefix: str = ""
    index: str = ""
    operator: str = ""
    text: str = ""


class Texts(Protocol):
    """Expands texts and numbers."""

    def value(self, text: str) -> Value: ...
    def number(self, text: str) -> int: ...


def parameter(inner: str) -> Parameter | None:
    """Parses the text between the braces, or a bare name."""
    found = _PARAMETER.fullmatch(inner)
    if found is None:
        return None
    rest = found["rest"]
    operator = _OPERATOR.match(rest)
    if rest and operator is None:
        return None
    sign = operator[0] if operator else ""
    return Parameter(found["name"], found["prefix"] or "", (found["index"] or "")[1:-1], sign, rest[len(sign) :])


def expanded(found: Parameter, raw: str, scope: Scope, texts: Texts) -> list[Value]:
    """The values of a parameter: several for an array. Raises CouldNotLook or UnclearError."""
    if found.prefix == "!" and found.index in ("@", "*"):
        variable = scope.variables.get(found.name)
        return [known(key) for key in variable.keys] if variable is not None else []
    if found.prefix == "!":
        target = _single(*scope.values(found.name), raw)
        if unknown_of(target) or not text_of(target).isidentifier():
            return [target]
        found = Parameter(text_of(target), "", found.index, found.operator, found.text)
    is_whole = found.index in ("@", "*") or found.name in ("@", "*")
    values, why = _chosen(found, scope, texts) if found.index and not is_whole else scope.values(found.name)
    if is_whole:
        variable = scope.variables.get(found.name)
        if variable is not None and variable.unknown:
            return [(Piece(raw, variable.unknown),)]
        if values is None and not scope.unread:
            values = ()  # the environment has no arrays
        return _of_array(found, values, why, raw, texts)
    if found.prefix == "#":
        return [_length(_single(values, why, raw))]
    if found.operator in (":-", "-", ":=", "=", ":?", "?", ":+", "+"):
        return [_defaulted(found, values, why, raw, scope, texts)]
    if values is None and scope.assume():
        return [()]
    return [_changed(found, _single(values, why, raw), raw, texts)]


def _chosen(found: Parameter, scope: Scope, texts: Texts) -> tuple[tuple[Value, ...] | None, str]:
    """The element of an array."""
    if found.name == "BASH_SOURCE":  # outside of a sourced file its one element is the script
        return (
            scope.values(found.name) if found.index == "0" else (None, f"{found.name}[{found.index}] is not known here")
        )
    variable = scope.variables.get(found.name)
    if variable is None:
        return None, f"the array {found.name} is not set here"
    if variable.keys:
        key = text_of(texts.value(found.index))
        values = dict(zip(variable.keys, variable.words, strict=False))
        return ((values[key].pieces,), "") if key in values else (None, f"{found.name}[{key}] is not set here")
    try:
        at = texts.number(found.index)
        return (variable.words[at].pieces,), ""
    except (ValueError, IndexError):
        return None, f"{found.name}[{found.index}] is not set here"


def _of_array(found: Parameter, values: tuple[Value, ...] | None, why: str, raw: str, texts: Texts) -> list[Value]:
    if found.prefix == "#":
        return [known(str(len(values)))] if values is not None else [(Piece(raw, why),)]
    if values is None:
        if found.operator in (":-", "-", ":+", "+"):
            return [texts.value(found.text)] if found.operator[-1] == "-" and found.text else []
        return [(Piece(raw, why.replace(f"{found.name} is", f"the array {found.name} is")),)]
    if found.operator == "":
        return list(values)
    if found.operator in (":+", "+"):
        return [texts.value(found.text)] if values else []
    if found.operator in (":-", "-"):
        return list(values) if values else [texts.value(found.text)]
    if found.operator == ":":
        first, _, length = found.text.partition(":")
        start = texts.number(first) - (found.name in ("@", "*"))
        start = max(start, 0) if start >= 0 or found.name in ("@", "*") else len(values) + start
        return list(values[start : start + texts.number(length)] if length.strip() else values[start:])
    return [_changed(found, value, raw, texts) for value in values]


def _defaulted(
    found: Parameter, values: tuple[Value, ...] | None, why: str, raw: str, scope: Scope, texts: Texts
) -> Value:
    """`${X:-d}` and its relatives."""
    value, is_missing = _present(found, values)
    sign = found.operator[-1]
    if sign == "?":
        return (Piece(raw, why or f"{found.name} is empty"),) if value is None or is_missing else value
    if is_missing == (sign == "+"):
        return value if sign != "+" and value is not None else ()
    made = texts.value(found.text)
    if sign == "=" and found.name.isidentifier():
        scope.set_text(found.name, made, 0)
    return made


def _present(found: Parameter, values: tuple[Value, ...] | None) -> tuple[Value | None, bool]:
    """The value of a single parameter, and whether the operator takes it for missing."""
    value = values[0] if values else (() if values is not None else None)
    return value, value is None or (not value and found.operator.startswith(":"))


def replacement(found: Parameter, scope: Scope) -> str | None:
    """The text that stands for a single parameter: d of `${X:-d}` without X, or of `${X:+d}` with X; else None."""
    if found.prefix or found.index or found.name in ("@", "*") or found.operator not in (":-", "-", ":+", "+"):
        return None
    is_missing = _present(found, scope.values(found.name)[0])[1]
    return found.text if is_missing == (found.operator[-1] == "-") else None


def _changed(found: Parameter, value: Value, raw: str, texts: Texts) -> Value:
    """The value after the operator: a part of it, without a prefix, with other letters."""
    if not found.operator:
        return value
    why = unknown_of(value)
    if why:
        return (Piece(raw, why),)
    text = text_of(value)
    if found.operator == ":":
        first, _, length = found.text.partition(":")
        start = texts.number(first)
        start = start if start >= 0 else max(len(text) + start, 0)
        count = texts.number(length) if length.strip() else len(text)
        return known(text[start : start + count] if count >= 0 else text[start:count])
    if found.operator in ("^", "^^", ",", ",,"):
        change = str.upper if found.operator[0] == "^" else str.lower
        return known(change(text) if len(found.operator) == 2 else change(text[:1]) + text[1:])
    pattern, new = _halves(found.text) if found.operator[0] == "/" else (found.text, "")
    wanted, other = texts.value(pattern), texts.value(new)
    if unknown_of(wanted) or unknown_of(other):
        return (Piece(raw, unknown_of(wanted) or unknown_of(other)),)
    pattern, is_long = text_of(wanted), len(found.operator) == 2
    if found.operator[0] == "/":
        return known(replaced(text, pattern, text_of(other), everywhere=is_long))
    cut = without_prefix if found.operator[0] == "#" else without_suffix
    return known(cut(text, pattern, longest=is_long))


def _halves(text: str) -> tuple[str, str]:
    """`a/b` of `${X/a/b}`; a slash in quotes or in an expansion does not count."""
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text.startswith("${", at):
            try:
                at = end_of_brackets(text, at + 2, "{") + 1
            except UnclosedError:
                break
            continue
        if text[at] == "/" and at:
            return text[:at], text[at + 1 :]
        at += 1
    return text, ""


def _single(values: tuple[Value, ...] | None, why: str, raw: str) -> Value:
    if values is None:
        return (Piece(raw, why),)
    return values[0] if values else ()


def _length(value: Value) -> Value:
    why = unknown_of(value)
    return (Piece(text_of(value), why),) if why else known(str(len(text_of(value))))
