"""What differs between the nodes of one job."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.model import Severity
from skyrl_doctor.nodes.drift import drift
from skyrl_doctor.nodes.node_report import Clock, Letter
from skyrl_doctor.nodes.traits import DEVICES


def letters(**traits: dict[str, str]) -> list[Letter]:
    return [Letter(node=node, traits=said) for node, said in traits.items()]


def found(*given: Letter) -> list[tuple[Severity, str, tuple[str, ...]]]:
    return [(odd.finding.severity, odd.finding.message, odd.nodes) for odd in drift(given)]


def test_alike_nodes_have_none() -> None:
    assert found(*letters(a={"driver": "580"}, b={"driver": "580"}, c={"driver": "580"})) == []
    assert found() == []


def test_the_majority_is_right() -> None:
    three = letters(a={"ray": "2.60.0"}, b={"ray": "2.50.0"}, c={"ray": "2.60.0"})
    assert found(*three) == [
        (Severity.ERROR, "ray differs: 2.50.0 on b; wanted 2.60.0, as on 2 of 3 nodes", ("b",)),
    ]


def test_two_that_differ_are_both_named_and_neither_is_to_blame() -> None:
    both = letters(a={"driver": "580.95"}, b={"driver": "550.54"})
    assert found(*both) == [
        (Severity.WARNING, "driver differs: 580.95 on a; 550.54 on b; wanted one value on every node", ()),
    ]


def test_a_tie_of_many_is_no_majority() -> None:
    four = letters(**{node: {DEVICES: f"{count} x H200"} for node, count in zip("abcd", (8, 7, 7, 8), strict=True)})
    assert found(*four) == [
        (Severity.ERROR, "set of GPUs differs: 8 x H200 on a, d; 7 x H200 on b, c; wanted one value on every node", ()),
    ]


def test_a_variable_that_is_set_on_one_node_alone() -> None:
    three = letters(a={"$LANG": "C", "$NCCL_DEBUG": "INFO"}, b={"$LANG": "C"}, c={"$LANG": "C"})
    assert found(*three) == [
        (Severity.WARNING, "$NCCL_DEBUG differs: INFO on a; wanted unset, as on 2 of 3 nodes", ("a",)),
    ]


def test_what_a_node_did_not_look_at_is_not_compared() -> None:
    assert found(*letters(a={"driver": "580"}, b={}, c={"$LANG": "C"})) == []


def clocks(*told: tuple[float, float]) -> list[tuple[Severity, str, tuple[str, ...]]]:
    return found(*(Letter(node=f"n{at}", clock=Clock(*one)) for at, one in enumerate(told)))


def test_clocks_are_held_against_the_median() -> None:
    assert clocks((0.0, 0.001), (0.2, 0.001), (0.9, 0.001)) == []
    assert clocks((100.0, 0.001), (100.2, 0.001), (103.0, 0.001)) == [
        (Severity.WARNING, "clocks differ from the others: n2 by +2.8 s; wanted at most 1 s", ("n2",)),
    ]


def test_two_clocks_that_differ_are_both_named() -> None:
    assert clocks((0.0, 0.0), (0.9, 0.0)) == []
    assert clocks((0.0, 0.0), (-42.0, 0.001)) == [
        (Severity.WARNING, "the clocks of n0 and n1 are 42.0 s apart; wanted at most 1 s", ()),
    ]


def test_what_a_slow_network_may_have_made_is_no_drift() -> None:
    assert clocks((0.0, 0.0), (0.1, 0.0), (2.0, 1.5)) == []


def test_a_node_that_cannot_reach_the_first() -> None:
    assert found(Letter(node="a"), Letter(node="b", unreached="10.0.0.1:4: No route to host")) == [
        (
            Severity.ERROR,
            (
                "b does not reach the first node of the job: 10.0.0.1:4: No route to host; wanted a connection, since every "
                "node of Ray keeps one"
            ),
            ("b",),
        )
    ]


NAMES = st.sampled_from(["ray", "driver", "$LANG"])


@given(st.lists(st.dictionaries(NAMES, st.sampled_from("xyz")), max_size=6))
def test_a_node_is_odd_only_against_more_of_another_value(said: list[dict[str, str]]) -> None:
    given_ = [Letter(node=f"n{at}", traits=traits) for at, traits in enumerate(said)]
    for odd in drift(given_):
        assert len(odd.nodes) * 2 < len(said) or len({t for one in said for t in one.values()}) > 2
