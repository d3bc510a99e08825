"""The bounds of numbers: read from classes, handed on by shared keys, and compared with values."""

import pytest

from skyrl_doctor.plan.schemas.bounds import narrowed, shared_keys, with_shared
from skyrl_doctor.plan.schemas.classes import ConfigClasses
from skyrl_doctor.plan.schemas.schema import Schema

SOURCE = """
Share: TypeAlias = Annotated[float, Field(gt=0, le=1)]

class First(BaseModel):
    type: Literal["first"] = "first"
    size: int = Field(1, ge=1)
    rate: int = Field(1, ge=1)

class Second(BaseModel):
    type: Literal["second"] = "second"
    size: int = Field(1, ge=2)
    rate: int = 0

class Run(BaseModel):
    steps: int = Field(8, ge=0)
    keep: int | None = Field(None, ge=1)
    workers: int | Literal["auto"] = Field(1, ge=1)
    share: Share = 0.5
    low: float = Field(-1, ge=-2.5, lt=0)
    count: PositiveInt = 1
    given: Annotated[int, annotated_types.Ge(3)] = 3
    unknown: int = Field(1, ge=LEAST)
    doubled: Annotated[int, BeforeValidator(double), Field(ge=1)] = 1
    turned: int = Field(1, ge=1)
    named: int = Field(1, ge=1)
    union: First | Second = First()

    @field_validator("turned", mode="before")
    def turn(cls, value):
        return abs(value)

    @model_validator(mode="before")
    def rename(cls, data):
        data["named"] = abs(data["named"])
        return data
"""


def test_bounds_are_read_where_no_validator_runs_before_them() -> None:
    assert ConfigClasses({"m": SOURCE}.get).keys("m", "Run") == {
        "steps": "int>=0",
        "keep": "int>=1|none",
        "workers": "'auto'|int>=1",
        "share": "float>0<=1",
        "low": "float>=-2.5<0",
        "count": "int>0",
        "given": "int>=3",
        "unknown": "int",
        "doubled": "int",
        "turned": "int",
        "named": "int",
        "union": "{}",
        "union.type": "'first'|'second'",
        "union.size": "int>=1|int>=2",
        "union.rate": "int|int>=1",
    }


SCHEMA = Schema(
    {
        "keep": "int>=1|none",
        "share": "float>0<=1",
        "union": "int|int>=1",
        "mixed": "bool|int>=2",
        "literal": "0|int>=2",
        "table": "int>=1|{}",
        "small": "float>=1e-05",
    }
)


@pytest.mark.parametrize(
    ("key", "value", "wrong"),
    [
        ("keep", 1, None),
        ("keep", 0, "expected a whole number of at least 1"),
        ("keep", "0", "expected a whole number of at least 1"),
        ("keep", 1.5, "expected a whole number of at least 1"),
        ("keep", 2.0, None),
        ("keep", False, None),
        ("share", 1, None),
        ("share", 0, "expected a number of more than 0 and at most 1"),
        ("share", 60, "expected a number of more than 0 and at most 1"),
        ("share", float("nan"), None),
        ("union", -3, None),
        ("mixed", 1, None),
        ("mixed", -1, "expected true or false or a whole number of at least 2"),
        ("literal", 0, None),
        ("table", 0, None),
        ("small", 0.0, "expected a number of at least 1e-05"),
    ],
)
def test_a_number_outside_all_bounds_is_wrong(key: str, value: object, wrong: str | None) -> None:
    assert SCHEMA.why_wrong(key, value) == wrong


SHARES = """
def hand_on(data):
    propagate("keep", "trainer.keep", "orchestrator.keep")
    propagate("served", "inference.served")
    for leaf in ("a", "b"):
        propagate(f"log.{leaf}", f"trainer.log.{leaf}")

def other(data):
    propagate("free", "trainer.keep")
"""


def test_a_shared_key_has_the_bounds_of_the_keys_that_take_its_value() -> None:
    assert list(shared_keys(SHARES, "hand_on")) == [
        ("keep", "trainer.keep"),
        ("keep", "orchestrator.keep"),
        ("served", "inference.served"),
    ]
    keys = {
        "keep": "int|none",
        "served": "int",
        "free": "int",
        "trainer": "@trainer|{}",
        "orchestrator": "@orchestrator|{}",
        "inference": "@inference|none|{}",
    }
    programs = {"trainer": {"keep": "int>=1|none"}, "orchestrator": {}, "inference": {"served": "int>=1"}}
    assert with_shared(keys, programs, SHARES, "hand_on") == {**keys, "keep": "int>=1|none"}
    assert with_shared(keys, programs, "def hand_on(:", "hand_on") == keys


def test_a_key_of_two_kinds_narrows_nothing() -> None:
    assert narrowed("int|none", "int|int>=1") == "int|none"
