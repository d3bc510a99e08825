"""Checks of preflight, asked again while the job runs."""

import json
import sys

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.registry import discover
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch.observations import Recheck
from skyrl_doctor.watch.rules.rechecks import RULE
from skyrl_doctor.watch.sample.rechecks import CHECKS, rechecks, told
from watching import brief, play, texts

BAD = Recheck(at=1.0, id="GPU003", message="python (uid 7) holds 9 GiB of GPU 0; wanted none", is_error=True)
GOOD = Recheck(at=1.0, id="GPU003", message="")


def timeline(*seen: Recheck) -> list[Recheck]:
    return [Recheck(at=300.0 * n, id=one.id, message=one.message, is_error=one.is_error) for n, one in enumerate(seen)]


def test_said_at_the_second_look_and_taken_back_after_two_good_ones() -> None:
    assert play(RULE, timeline(GOOD, BAD, GOOD, BAD, GOOD)) == []
    said = play(RULE, timeline(BAD, BAD, BAD, GOOD, BAD, GOOD, GOOD))
    assert brief(said) == [(300.0, "GPU003.recheck"), (1800.0, "-GPU003.recheck")]
    assert texts(said) == [BAD.message]


def test_what_could_not_look_says_neither() -> None:
    report = {
        "outcomes": [
            {"id": "GPU003", "status": "fail", "severity": "error", "findings": [{"message": "a"}, {"message": "b"}]},
            {"id": "POD005", "status": "unknown", "severity": None, "findings": []},
        ]
    }
    assert told(report, 3.0) == [Recheck(at=3.0, id="GPU003", message="a; b", is_error=True)]


class Node(LocalMachine):
    """A node whose preflight says this."""

    asked: tuple[str, ...] = ()

    def run(self, argv: object, **_: object) -> q.Completed:
        assert isinstance(argv, tuple)
        self.asked = argv
        return q.Completed(command="preflight", rc=0, out=json.dumps({"outcomes": []}))


def test_strangers_are_looked_for_only_where_they_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = Node({})
    inside = Node({"SLURM_JOB_ID": "7"})
    for node in (outside, inside):
        assert rechecks(node, 3.0) == ()
    assert (outside.asked[0], outside.asked[-1], inside.asked[-1]) == (
        sys.executable,
        "POD004,POD005",
        "GPU003,POD004,POD005",
    )


def test_they_are_checks_of_preflight() -> None:
    assert set(CHECKS) <= {check.id for check in discover().checks}


def test_a_preflight_that_fails_is_said() -> None:
    class Broken(LocalMachine):
        def run(self, *_: object, **__: object) -> q.Completed:
            return q.Completed(command="preflight", rc=2, err="no check is called 'X'")

    with pytest.raises(CouldNotLook, match="no check is called"):
        rechecks(Broken({}), 3.0)
