"""What differs between the nodes of one job."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.model import Severity
from skyrl_doctor.nodes.drift import drift
from skyrl_doctor.nodes.node_report import Clock, NodeReport
from skyrl_doctor.nodes.traits import DEVICES


def reports(**traits: dict[str, str]) -> list[NodeReport]:
    return [NodeReport(node=node, traits=said) for node, said in traits.items()]


def found(*given: NodeReport) -> list[tuple[Severity, str, tuple[str, ...]]]:
    return [(odd.finding.severity, odd.finding.message, odd.nodes) for odd in drift(given)]


def test_alike_nodes_have_none() -> None:
    assert found(*reports(a={"driver": "580"}, b={"driver": "580"}, c={"driver": "580"})) == []
    assert found() == []


def test_the_majority_is_right() -> None:
    three = reports(a={"ray": "2.60.0"}, b={"ray": "2.50.0"}, c={"ray": "2.60.0"})
    assert found(*three) == [
        (Severity.ERROR, "ray differs: 2.50.0 on b; 2 of 3 nodes have 2.60.0", ("b",)),
    ]


def test_two_that_differ_are_both_named_and_neither_is_to_blame() -> None:
    both = reports(a={"driver": "580.95"}, b={"driver": "550.54"})
    assert found(*both) == [
        (Severity.WARNING, "driver differs: 580.95 on a; 550.54 on b; it must be equal on all nodes", ()),
    ]


def test_a_tie_of_many_is_no_majority() -> None:
    four = reports(**{node: {DEVICES: f"{count} x H200"} for node, count in zip("abcd", (8, 7, 7, 8), strict=True)})
    assert found(*four) == [
        (Severity.ERROR, "set of GPUs differs: 8 x H200 on a, d; 7 x H200 on b, c; it must be equal on all nodes", ()),
    ]


def test_a_variable_that_is_set_on_one_node_alone() -> None:
    three = reports(a={"$LANG": "C", "$NCCL_DEBUG": "INFO"}, b={"$LANG": "C"}, c={"$LANG": "C"})
    assert found(*three) == [
        (Severity.WARNING, "$NCCL_DEBUG differs: INFO on a; 2 of 3 nodes have unset", ("a",)),
    ]


def test_what_a_node_did_not_look_at_is_not_compared() -> None:
    assert found(*reports(a={"driver": "580"}, b={}, c={"$LANG": "C"})) == []


def clocks(*told: tuple[float, float]) -> list[tuple[Severity, str, tuple[str, ...]]]:
    return found(*(NodeReport(node=f"n{at}", clock=Clock(*one)) for at, one in enumerate(told)))


def test_clocks_are_held_against_the_median() -> None:
    assert clocks((0.0, 0.001), (0.2, 0.001), (0.9, 0.001)) == []
    assert clocks((100.0, 0.001), (100.2, 0.001), (103.0, 0.001)) == [
        (Severity.WARNING, "clocks differ from the other nodes: n2 by +2.8 s; the limit is 1 s", ("n2",)),
    ]


def test_two_clocks_that_differ_are_both_named() -> None:
    assert clocks((0.0, 0.0), (0.9, 0.0)) == []
    assert clocks((0.0, 0.0), (-42.0, 0.001)) == [
        (Severity.WARNING, "the clocks of n0 and n1 are 42.0 s apart; the limit is 1 s", ()),
    ]


def test_what_a_slow_network_may_have_made_is_no_drift() -> None:
    assert clocks((0.0, 0.0), (0.1, 0.0), (2.0, 1.5)) == []


def test_a_node_that_cannot_reach_the_first() -> None:
    assert found(NodeReport(node="a"), NodeReport(node="b", unreached="10.0.0.1:4: No route to host")) == [
        (
            Severity.ERROR,
            "b cannot connect to the first node of the job (10.0.0.1:4: No route to host); Ray needs this connection",
            ("b",),
        )
    ]


NAMES = st.sampled_from(["ray", "driver", "$LANG"])


@given(st.lists(st.dictionaries(NAMES, st.sampled_from("xyz")), max_size=6))
def test_a_node_is_odd_only_against_more_of_another_value(said: list[dict[str, str]]) -> None:
    given_ = [NodeReport(node=f"n{at}", traits=traits) for at, traits in enumerate(said)]
    for odd in drift(given_):
        assert len(odd.nodes) * 2 < len(said) or len({t for one in said for t in one.values()}) > 2
