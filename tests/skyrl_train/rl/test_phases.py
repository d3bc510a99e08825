import json
import os

import pytest

from skyrl_train.rl.phases import VARIABLE, Clock, begin, end, phase


def test_a_phase_is_told_when_it_begins_and_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    monkeypatch.setenv(VARIABLE, str(writer))
    with pytest.raises(ValueError, match="no"), phase("rollouts", 5.0):
        raise ValueError("no")
    os.close(writer)
    with os.fdopen(reader) as lines:
        assert [json.loads(one) for one in lines] == [{"begin": "rollouts", "limit_s": 5.0}, {"end": "rollouts"}]


def test_without_a_watchman_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    begin("a", 1.0)
    end("a")


def test_a_watchman_that_is_gone_ends_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setenv(VARIABLE, str(writer))
    begin("a", 1.0)
    os.close(writer)


def test_the_phase_that_should_have_ended_first_is_late() -> None:
    clock = Clock()
    clock.hear('{"begin": "outer", "limit_s": 100}', 0.0)
    clock.hear('{"begin": "inner", "limit_s": 5}', 10.0)
    assert clock.late(14.9) is None
    assert clock.late(15.1) == "inner"
    clock.hear('{"end": "inner"}', 15.2)
    assert clock.late(99.0) is None
    assert clock.late(100.1) == "outer"


def test_a_phase_that_begins_again_has_its_whole_time_again() -> None:
    clock = Clock()
    clock.hear('{"begin": "sync", "limit_s": 5}', 0.0)
    clock.hear('{"end": "sync"}', 1.0)
    clock.hear('{"begin": "sync", "limit_s": 5}', 100.0)
    assert clock.late(104.0) is None


def test_an_end_without_a_beginning_is_nothing() -> None:
    clock = Clock()
    clock.hear('{"end": "sync"}', 1.0)
    assert clock.late(1e9) is None
