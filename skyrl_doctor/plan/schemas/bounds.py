"""The bounds of numbers in configuration classes, as part of the word of a type: `int>=1`, `float>0<=1`."""

import ast
import operator
import re
from collections.abc import Iterable, Iterator, Mapping

NUMBERS = ("int", "float")
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_NAMED = {
    "PositiveInt": "int>0",
    "NonNegativeInt": "int>=0",
    "NegativeInt": "int<0",
    "NonPositiveInt": "int<=0",
    "PositiveFloat": "float>0",
    "NonNegativeFloat": "float>=0",
    "NegativeFloat": "float<0",
    "NonPositiveFloat": "float<=0",
}
"""pydantic's own types."""
_CHANGES = ("BeforeValidator", "PlainValidator", "WrapValidator")
"""What may turn a value into another one before its bounds are compared."""
_FIELDS = ("Field", "Interval")
_BOUND = re.compile(r"([<>]=?)([^<>=]+)")
_HOLDS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
_TEXTS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}


def named_type(name: str) -> str | None:
    """The word of one of pydantic's bounded types."""
    return _NAMED.get(name)


def bound_of(nodes: Iterable[ast.expr]) -> str:
    """The bounds that `Field(ge=1)`, `Ge(1)` or `Interval(ge=1)` give; "" without one, or where a validator runs before it."""
    made = ""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = _name(node.func)
        if name in _CHANGES:
            return ""
        given = {word.arg: word.value for word in node.keywords if word.arg is not None} if name in _FIELDS else {}
        if name.lower() in _SIGNS and name[0].isupper() and node.args:
            given = {name.lower(): node.args[0]}
        for key, sign in _SIGNS.items():
            number = _number(given.get(key))
            made += "" if number is None else f"{sign}{number!r}"
    return made


def bounded(words: Iterable[str], bound: str) -> set[str]:
    """The words of a type whose numbers have these bounds too."""
    return {f"{word}{bound}" if plain(word) in NUMBERS else word for word in words}


def plain(word: str) -> str:
    """The word of a type without its bounds."""
    return word if word.startswith("'") else re.split("[<>]", word, maxsplit=1)[0]


def holds(word: str, value: float) -> bool:
    """Whether a number fits the word of a number. A bounded whole number has no fraction."""
    bounds = _BOUND.findall(word)
    if bounds and plain(word) == "int" and value != int(value):
        return False
    return all(_HOLDS[sign](value, float(number)) for sign, number in bounds)


def describe(word: str) -> str:
    """The bounds of a word in English: ` of at least 1`; "" without bounds."""
    texts = [f"{_TEXTS[sign]} {float(number):g}" for sign, number in _BOUND.findall(word)]
    return f" of {' and '.join(texts)}" if texts else ""


def narrowed(words: str, target: str) -> str:
    """The type of a key whose value another key takes over: the bounds of both."""
    limits = {plain(word): word for word in target.split("|") if plain(word) in NUMBERS}
    if len(limits) != sum(plain(word) in NUMBERS for word in target.split("|")):
        return words  # the other key takes several kinds of one number
    return "|".join(sorted(limits.get(word, word) for word in words.split("|")))


def shared_keys(source: str, function: str) -> Iterator[tuple[str, str]]:
    """The pairs of `propagate("shared.key", "table.key", …)` in a function: the value of the first becomes that of the second."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    found = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == function), None)
    for node in () if found is None else ast.walk(found):
        if isinstance(node, ast.Call) and _name(node.func) == "propagate":
            texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if len(texts) == len(node.args) and texts:
                yield from ((texts[0], target) for target in texts[1:])


def with_shared(
    keys: Mapping[str, str], of_programs: Mapping[str, Mapping[str, str]], source: str, function: str
) -> dict[str, str]:
    """The keys of a program whose shared values become those of the programs that it always has."""
    made = dict(keys)
    for key, target in shared_keys(source, function):
        table, _, inner = target.partition(".")
        words = keys.get(table, "").split("|")
        program = next((word[1:] for word in words if word.startswith("@")), None)
        if key in made and program is not None and "none" not in words:
            made[key] = narrowed(made[key], of_programs.get(program, {}).get(inner, ""))
    return made


def _number(node: ast.expr | None) -> int | float | None:
    try:
        value = None if node is None else ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
