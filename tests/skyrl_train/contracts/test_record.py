"""Records behave as frozen dataclasses do."""

import dataclasses
import pickle

import pytest

from skyrl_train.contracts.record import record


@record
class Point:
    x: int
    y: int = 2
    names: list[str] = dataclasses.field(default_factory=list)


@record(kw_only=True)
class Named:
    name: str
    size: int = 0

    @property
    def shout(self) -> str:
        return self.name.upper()


@record
class Child(Point):
    z: int = 3


@dataclasses.dataclass(frozen=True)
class PlainPoint:
    x: int
    y: int = 2
    names: list[str] = dataclasses.field(default_factory=list)


def test_fields_by_position_by_name_and_by_default() -> None:
    assert (Point(1).x, Point(1).y, Point(1, 5).y, Point(x=1, names=["a"]).names) == (1, 2, 5, ["a"])
    assert Point(1).names is not Point(1).names
    assert Child(1) == Child(x=1, y=2, names=[], z=3)
    assert Named(name="a").shout == "A"


@pytest.mark.parametrize(
    "call",
    [lambda: Point(), lambda: Point(1, 2, [], 4), lambda: Point(1, x=1), lambda: Point(1, q=1), lambda: Named("a")],
)
def test_wrong_values_are_a_type_error(call: object) -> None:
    with pytest.raises(TypeError):
        call()  # type: ignore[operator]  # a table of wrong calls


def test_equality_hash_and_repr_are_a_dataclass_s() -> None:
    assert Point(1) == Point(1)
    assert Point(1) != Point(2)
    assert Point(1) != PlainPoint(1)
    assert hash(Named(name="a")) == hash(Named(name="a"))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))
    assert repr(Point(1)) == repr(PlainPoint(1)).replace("PlainPoint", "Point")


def test_nothing_can_be_changed() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot change 'x' of a Point"):
        point.x = 2  # type: ignore[misc]  # what must not work
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.new = 2  # type: ignore[attr-defined]  # what must not work


def test_the_tools_of_dataclasses_work() -> None:
    assert dataclasses.replace(Point(1), y=7) == Point(1, 7)
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "names": []}
    assert [field.name for field in dataclasses.fields(Named(name="a"))] == ["name", "size"]
    assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_own_methods_are_kept() -> None:
    @record
    class Loud:
        x: int

        def __repr__(self) -> str:
            return "loud"

    assert repr(Loud(1)) == "loud"
