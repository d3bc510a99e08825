"""What crosses processes comes back equal, whichever way it went, and holds nothing but data."""

import copy
import dataclasses
import enum
import pickle
import types
import typing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.transcript import Reply, Step, Transcript
from skyrl_train.contracts.payloads import PAYLOADS, from_json, to_json

st.register_type_strategy(float, st.floats(min_value=0.001, allow_nan=False))
st.register_type_strategy(int, st.integers(1, 2**40))
st.register_type_strategy(str, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))

st.register_type_strategy(Transcript, st.builds(Transcript, steps=st.lists(st.from_type(Step), max_size=2).map(tuple)))

LEAVES = (str, int, float, bool, type(None))


def parts(kind: object) -> set[object]:
    """The types that a value of this type can hold."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (tuple, typing.Union, types.UnionType, dict):
        return set().union(*(parts(argument) for argument in arguments if argument is not Ellipsis))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return {kind}.union(*(parts(hint) for hint in typing.get_type_hints(kind).values()))
    return {kind}


@pytest.mark.parametrize("kind", PAYLOADS)
def test_a_payload_holds_data_only(kind: type) -> None:
    for part in parts(kind):
        assert part in LEAVES or part in PAYLOADS or _is_plain(part), part


def _is_plain(part: object) -> bool:
    """An enum, or a small record that only stands inside others."""
    assert isinstance(part, type)
    return issubclass(part, enum.Enum) or dataclasses.is_dataclass(part)


@pytest.mark.parametrize("kind", PAYLOADS)
def test_a_payload_is_frozen(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=50, deadline=None)
@given(st.data())
@pytest.mark.parametrize("kind", PAYLOADS)
def test_round_trips(kind: type, data: st.DataObject) -> None:
    payload = data.draw(st.from_type(kind).filter(lambda value: value == value))
    assert pickle.loads(pickle.dumps(payload)) == payload
    assert copy.deepcopy(payload) == payload
    text = to_json(payload)
    assert "\n" not in text
    again = from_json(kind, text)
    assert again == payload
    assert to_json(again) == text


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=20, deadline=None)
@given(st.data())
@pytest.mark.parametrize("kind", PAYLOADS)
def test_goes_to_ray_workers(kind: type, data: st.DataObject) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    payload = data.draw(st.from_type(kind))
    assert cloudpickle.loads(cloudpickle.dumps(payload)) == payload


def test_an_impossible_token_has_an_infinite_log_probability() -> None:
    reply = Reply(token_ids=(1, 2), text="é\n", ended=Ended.STOP, logprobs=(-0.5, float("-inf")))
    assert (
        to_json(reply) == '{"token_ids":[1,2],"text":"é\\n","ended":"stop","logprobs":[-0.5,-Infinity],"weights":null}'
    )
    assert from_json(Reply, to_json(reply)) == reply


def test_what_is_not_declared_does_not_cross() -> None:
    with pytest.raises(TypeError, match=r"Live is not declared in skyrl_train\.contracts\.payloads"):
        to_json(Live())


class Live:
    """Something with a lock, a socket or a process in it."""
