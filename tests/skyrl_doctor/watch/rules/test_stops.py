"""A stop text that is stripped, and an agent without calls: together a root, alone none."""

from pathlib import Path

from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch.finding import Raised
from skyrl_doctor.watch.observations import Fault, Hit, Observation, Rollouts, Served
from skyrl_doctor.watch.rules import refusals, stops
from skyrl_doctor.watch.sample.configuration import configuration
from skyrl_train.contracts.agent.counts_file import line
from skyrl_train.contracts.agent.metrics import Counts
from watching import brief, play, steps

FAULT = Fault(at=0.0, id="AGT014", slug="stop-string-stripped", message="stop is stripped", file="run.toml", line=4)
CALLS = Counts(rollouts=8, turns=40, calls=40, scored=8)
NONE = Counts(rollouts=8, turns=40, no_calls=40, scored=8)


def silent(at: float) -> Hit:
    return Hit(
        at=at, id="AGT001", slug="x", root=False, cascade=False, file="a.log", line=int(at), text="No call", explain="x"
    )


def counts(at: float, of: Counts) -> Rollouts:
    return Rollouts(at=at, counts=line(of))


def test_both_together_are_a_root() -> None:
    for timeline in (
        [silent(float(n)) for n in range(1, 9)],
        [counts(4.0, CALLS), counts(5.0, NONE), counts(6.0, NONE)],
    ):
        (found,) = play(stops.RULE, [FAULT, *timeline])
        assert isinstance(found, Raised)
        assert (found.at, found.id, found.root) == (5.0, "AGT014", True)
        assert found.finding.message == (
            "the agent's replies hold no calls, and the configuration says why: stop is stripped"
        )
    figures = steps({"rollout_metrics/no_call_ratio": 0.4}, {"rollout_metrics/no_call_ratio": 0.9})
    assert brief(play(stops.RULE, [FAULT, *figures])) == [(60.0, "AGT014.no-calls")]


def test_neither_alone_is_one() -> None:
    few: list[Observation] = [silent(float(n)) for n in range(4)]
    assert play(stops.RULE, [*(silent(float(n)) for n in range(50)), counts(60.0, NONE)]) == []
    assert play(stops.RULE, [FAULT, *few, counts(5.0, CALLS), Rollouts(at=6.0, counts="{")]) == []


def test_a_server_that_refuses_requests_is_not_explained_by_it() -> None:
    refused = [Served(at=float(n), url="u", refused=float(n)) for n in range(9)]
    assert play(refusals.RULE, [FAULT, *refused]) == []


def test_the_configuration_tells_of_it(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(
        '[model]\npath = "a/b"\n[rollout]\nstop = ["</function>"]\nkeep_stop = false\n', encoding="utf-8"
    )
    (fault,) = configuration(str(tmp_path), ())(LocalMachine(), 3.0)
    assert isinstance(fault, Fault)
    assert (fault.id, fault.line) == ("AGT014", 4)
