"""Whether a program takes a key, and whether a value can be right for it."""

import pytest

from skyrl_doctor.plan.schemas.schema import Schema

SCHEMA = Schema(
    {
        "steps": "int",
        "name": "none|str",
        "mode": "'fast'|'slow'|none",
        "on": "bool",
        "model": "{}",
        "model.size": "float|int",
        "parts": "[]",
        "parts[].id": "str",
        "free": "any",
        "hosts": "{}",
        "hosts.*.port": "int",
    }
)


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("steps", True),
        ("stepz", False),
        ("model.size", True),
        ("model.sizes", False),
        ("parts[3].id", True),
        ("parts[3].ident", False),
        ("free.any.thing", True),
        ("hosts.first.port", True),
        ("hosts.first.part", False),
        ("steps.below", False),
    ],
)
def test_knows_its_keys(key: str, known: bool) -> None:
    assert (SCHEMA.type_of(key) is not None) is known


@pytest.mark.parametrize(
    ("key", "value", "wrong"),
    [
        ("steps", 3, None),
        ("steps", "3", None),
        ("steps", "three", "expected a whole number"),
        ("steps", [3], "expected a whole number"),
        ("mode", "fast", None),
        ("mode", "None", None),
        ("mode", "quick", "expected 'fast' or 'slow'"),
        ("on", "true", None),
        ("on", "perhaps", "expected true or false"),
        ("name", [1], None),
        ("model.size", "1e-6", None),
        ("parts", [], None),
        ("free", "anything", None),
    ],
)
def test_refuses_only_what_cannot_be_right(key: str, value: object, wrong: str | None) -> None:
    assert SCHEMA.why_wrong(key, value) == wrong


def test_suggests_a_key_of_the_same_table() -> None:
    assert SCHEMA.closest("model.siz") == "model.size"
    assert SCHEMA.closest("other.size") is None
