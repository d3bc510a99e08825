"""Outages that several processes saw, and the line that names them."""

from skyrl_train.contracts.agent.metrics import Counts, of_outages
from skyrl_train.contracts.agent.outages import Outage, described, merged


def outage(began_at: float, seconds: float, why: str = "x") -> Outage:
    return Outage(began_at=began_at, seconds=seconds, why=why)


def test_outages_that_overlap_are_one() -> None:
    seen = [outage(104.0, 30.0, "b"), outage(100.0, 20.0, "a"), outage(500.0, 5.0, "c"), outage(101.0, 2.0, "d")]
    assert merged(seen) == (outage(100.0, 34.0, "a"), outage(500.0, 5.0, "c"))
    assert merged([]) == ()


def test_the_outages_of_steps_add_up() -> None:
    step = of_outages([outage(100.0, 34.0, "a"), outage(500.0, 6.0, "c")])
    assert step == Counts(outages=2, outage_s=40.0, outage_causes={"a": 1, "c": 1})
    assert step + of_outages([outage(900.0, 5.0, "c")]) == Counts(
        outages=3, outage_s=45.0, outage_causes={"a": 1, "c": 2}
    )
    assert of_outages([]) == Counts()


def test_the_most_frequent_causes_are_named() -> None:
    causes = {"a": 1, "error_runtime: refused": 3, "b": 1, "c": 1}
    assert described(6, 95.4, causes) == (
        "6 outages survived, 95 s without new rollouts: 3 x error_runtime: refused; 1 x a; 1 x b"
    )
    assert described(1, 5.0, {"a": 1}) == "1 outage survived, 5 s without new rollouts: 1 x a"
    assert described(0, 0.0, {}) == ""
