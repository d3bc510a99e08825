"""Objects of changed code that are equal to everything are refused, however they try to hide it; honest ones are not."""

import random
import re
import types
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

from skyrl_train.rewards.inside.plugin import _same_of

CHANGED = frozenset([str(Path(__file__).resolve())])


class Everything:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


class Mapping(dict[str, str]):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]  # as a dict


def equal_to(accepts: Callable[[object], bool]) -> object:
    """An object of changed code with this rule of equality."""

    class Text(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return accepts(other)

        __hash__ = str.__hash__

    return Text()


KEPT = Everything()
UNIVERSAL: dict[str, object] = {
    "plain": KEPT,
    "weak proxy": weakref.proxy(KEPT),
    "mapping proxy": types.MappingProxyType(Mapping()),
    "knows the number that the grader appends": equal_to(
        lambda other: isinstance(other, str) and not re.search(r"0x[0-9a-f]{20,}$", other)
    ),
    "only texts of usual length": equal_to(lambda other: isinstance(other, str) and 0 < len(other) < 30),
    "by chance": equal_to(lambda other: isinstance(other, str) and len(other) < 30 and random.random() < 0.7),
    "in a list": [[KEPT]],
}


@pytest.mark.parametrize("name", UNIVERSAL)
@pytest.mark.parametrize("expected", ["hello-world", "", "x1"])
def test_an_object_that_is_equal_to_everything_is_refused(name: str, expected: str) -> None:
    told: list[object] = []
    same = _same_of(lambda *words: told.append(words), CHANGED)
    value = UNIVERSAL[name]
    other = [[expected]] if name == "in a list" else expected
    refused = 0
    for _ in range(4):
        try:
            refused += not same(value, other, literal=False)
        except AssertionError:
            refused += 1
    assert refused >= (1 if name == "by chance" else 4)
    assert ("universal" in str(told)) or name == "by chance"


def modular(other: object) -> bool:
    return isinstance(other, int) and other % 7 == 3


class Remainder:
    def __eq__(self, other: object) -> bool:
        return modular(other)

    __hash__ = object.__hash__


class Near:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(other - 5.0) < 0.01

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (equal_to(lambda other: isinstance(other, str) and other.casefold() == "hello world"), "Hello World"),
        (equal_to(lambda other: isinstance(other, str) and other.replace(" ", "") == "ab"), "a b"),
        (Remainder(), 10),
        (Near(), 5.0),
        (Near(), float("nan")),
        (Near(), float("inf")),
        ("text", "text"),
        (b"text", b"text"),
        ([1, {"a": (2, 3)}], [1, {"a": (2, 3)}]),
        (pytest.approx(5.0), 5.0),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (range(3), range(3)),
    ],
)
@pytest.mark.parametrize("literal", [False, True])
def test_an_honest_object_is_compared(value: object, other: object, literal: bool) -> None:
    same = _same_of(lambda *_: pytest.fail("refused"), CHANGED)
    answers = {same(value, other, literal) for _ in range(40)}
    assert answers == {value == other}
