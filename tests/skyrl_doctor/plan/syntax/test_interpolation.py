"""OmegaConf's interpolations."""

from typing import Any

import pytest

from skyrl_doctor.plan.syntax.interpolation import MissingError, UnresolvedError, resolve

TREE: dict[str, Any] = {
    "a.b": 3,
    "a.c": "${.b}",
    "a.d.e": "${..b}",
    "x": "${a.c}",
    "loop": "${loop}",
    "nothing": None,
    "name": "b",
}


def value(text: str, key: str = "a.z") -> Any:
    def find(path: str) -> Any:
        if path in TREE:
            return TREE[path]
        raise MissingError(f"there is no {path}")

    return resolve(text, key=key, find=find, environ={"USER": "ada"})


def test_values() -> None:
    assert [value("${a.b}"), value("${x}"), value("${.c}"), value("p${a.b}q${x}")] == [3, 3, 3, "p3q3"]
    assert [value("${oc.select:no.such,7}"), value("${oc.select:nothing,7}"), value("${oc.select:nothing}")] == [
        7,
        7,
        None,
    ]
    assert [value("${oc.select:no,[]}"), value("${oc.select:no,${oc.select:a.b,1}}"), value("${a.${name}}")] == [
        [],
        3,
        3,
    ]
    assert [value("${oc.env:USER}"), value("${oc.env:NONE,x}"), value("plain")] == ["ada", "x", "plain"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("${no.such}", "there is no no.such"),
        ("${loop}", "its interpolations form a cycle"),
        ("${oc.env:NONE}", "NONE is not set here"),
        ("${mine:1}", "unknown interpolation ${mine:…}"),
        ("${open", "an interpolation has no closing }"),
    ],
)
def test_refusals(text: str, why: str) -> None:
    with pytest.raises(UnresolvedError) as caught:
        value(text)
    assert str(caught.value) == why
