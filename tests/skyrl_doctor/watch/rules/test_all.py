"""The rules together, and their memory on disk."""

import json

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.watch.observations import (
    Bar,
    Checkpoint,
    Fill,
    Hit,
    Left,
    Observation,
    Phase,
    Sandboxes,
    Served,
    Step,
    Tick,
    Use,
)
from skyrl_doctor.watch.rules import all as rules
from skyrl_doctor.watch.rules.conditions import CONDITIONS
from watching import brief

HIT = Hit(at=3.0, id="CFG001", slug="s", root=True, cascade=False, file="v.log", line=1, text="t", explain="e")
TIMELINE: list[Observation] = [
    Tick(at=1.0),
    Bar(at=2.0, label="rollouts", done=0, total=8, elapsed_s=1.0),
    HIT,
    HIT,
    Step(at=4.0, step=1, metrics={"actor/grad_norm": float("nan"), "critic/score/mean": 0.5}),
    Served(at=5.0, url="u", generated_tokens=1.0, refused=2.0),
    Sandboxes(at=6.0, url="r", status=401),
    Fill(at=7.0, kind="disk", name="d", used=99.0, limit=100.0),
    Checkpoint(at=8.0, step=1, bytes=5, tracked=1),
    Left(at=9.0, job="trainer", seconds=10.0),
    Phase(at=10.0, name="weight sync", file="f", line=1, text="t"),
    Use(at=11.0, device="GPU 0", percent=3.0),
    Tick(at=4000.0),
]


def test_a_hit_is_reported_once_with_its_place() -> None:
    states, keys = rules.start(), []
    for seen in TIMELINE:
        states, said = rules.judge(states, seen)
        keys += brief(said)
    assert keys == [
        (3.0, "CFG001.log.root"),
        (7.0, "CKP003.fill.d"),
        (4000.0, "TRN006.sync"),
    ]


@given(st.integers(0, len(TIMELINE)))
def test_memory_on_disk_changes_nothing(cut: int) -> None:
    states = rules.start()
    for seen in TIMELINE[:cut]:
        states, _ = rules.judge(states, seen)
    again = rules.thaw(json.loads(json.dumps(rules.freeze(states))))
    assert rules.freeze(again) == rules.freeze(states)
    for seen in TIMELINE[cut:]:
        (states, said), (again, same) = rules.judge(states, seen), rules.judge(again, seen)
        assert said == same


def test_damaged_memory_starts_anew() -> None:
    fresh = rules.freeze(rules.start())
    for data in ({}, {"stall": 3}, {"stall": {"x": 1}}, {"known": None}):
        assert rules.freeze(rules.thaw(data)) == fresh


def test_every_rule_speaks_of_the_catalogue() -> None:
    ids = {condition.id for condition in CONDITIONS}
    assert {name for name in ids if catalogue().find(name) is None} == set()
