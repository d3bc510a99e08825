"""The trainer's rules about its agent, on the counts that it writes."""

import dataclasses

from skyrl_doctor.watch.follow.tail import Lines
from skyrl_doctor.watch.observations import Rollouts
from skyrl_doctor.watch.read.logs import Logs
from skyrl_doctor.watch.rules.agent import RULE
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.metrics import Counts
from skyrl_train.contracts.payloads import to_json
from watching import brief, play, texts

GOOD = Counts(rollouts=8, turns=40, calls=40, scored=8, ends={Finish.FINISH_TOOL: 8})


def told(*counts: Counts) -> list[Rollouts]:
    return [Rollouts(at=float(n), counts=to_json(one)) for n, one in enumerate(counts, 1)]


def test_calls_that_are_missing_tools_that_are_not_and_masks() -> None:
    silent = dataclasses.replace(GOOD, calls=0, no_calls=40)
    assert brief(play(RULE, told(GOOD))) == []
    assert texts(play(RULE, told(silent))) == ["no call in the first 8 rollouts, wanted at least one"]
    assert brief(play(RULE, told(silent, silent))) == [(1.0, "AGT015.agent"), (2.0, "AGT001.agent")]
    unknown = dataclasses.replace(GOOD, unknown_tools=3)
    assert texts(play(RULE, told(unknown))) == ["3 of 40 replies call a function that is not offered, wanted 0"]
    masked = dataclasses.replace(GOOD, masked=6)
    said = play(RULE, told(GOOD, masked, GOOD, masked, masked, GOOD, GOOD, GOOD))
    assert brief(said) == [(5.0, "AGT019.agent"), (8.0, "-AGT019.agent")]


def test_a_line_that_is_no_count_is_passed_over() -> None:
    bad = [Rollouts(at=1.0, counts=text) for text in ("", "{", "[]", '{"rollouts": "x"}', "{}" * 3)]
    assert play(RULE, bad) == []


def test_the_trainer_s_file_is_read_line_by_line() -> None:
    path = "/j/rollout_counts.jsonl"
    assert list(Logs().take(Lines(path, 1, b'{"a": 1}\n{"b": 2}\n'), 3.0)) == [
        Rollouts(at=3.0, counts='{"a": 1}'),
        Rollouts(at=3.0, counts='{"b": 2}'),
    ]
    assert list(Logs().take(Lines(path, 1, b'{"a": 1', open=True), 3.0)) == []
