"""Many nodes' letters as one report."""

from skyrl_doctor.core.model import Finding, Outcome, Severity, Status
from skyrl_doctor.nodes.merge import NodesByState, merge
from skyrl_doctor.nodes.node_report import NodeReport, NodeResult, NoReport

PASS = Outcome(id="ENV001", slug="triton-python-h", status=Status.PASS)
FAULT = Outcome(
    id="ENV001", slug="triton-python-h", status=Status.FAIL, findings=(Finding(message="no header; wanted one"),)
)
UNKNOWN = Outcome(id="ENV001", slug="triton-python-h", status=Status.UNKNOWN, reason="it hangs")
SKIP = Outcome(id="SLM003", slug="multinode-not-ready", status=Status.SKIP, reason="one node")
READY = Outcome(id="SLM003", slug="multinode-not-ready", status=Status.PASS)


def nodes(**said: Outcome | str) -> dict[str, NodeResult]:
    return {
        node: NoReport(one) if isinstance(one, str) else NodeReport(node=node, outcomes=(one,))
        for node, one in said.items()
    }


def status(**said: Outcome | str) -> list[tuple[str, Status, str, list[str]]]:
    return [
        (one.id, one.status, one.reason, [finding.message for finding in one.findings])
        for one in merge(nodes(**said)).outcomes
    ]


def test_all_well() -> None:
    assert status(a=PASS, b=PASS) == [("ENV001", Status.PASS, "", []), ("SLM003", Status.PASS, "", [])]
    assert merge(nodes(a=PASS, b=PASS)).nodes == NodesByState(passing=("a", "b"))


def test_a_fault_names_the_node_that_has_it() -> None:
    assert status(a=PASS, b=FAULT)[0] == ("ENV001", Status.FAIL, "", ["b: no header; wanted one"])
    assert merge(nodes(a=PASS, b=FAULT)).nodes == NodesByState(passing=("a",), failing=("b",))


def test_a_fault_of_every_node_is_none_of_a_node() -> None:
    assert status(a=FAULT, b=FAULT)[0] == ("ENV001", Status.FAIL, "", ["no header; wanted one"])
    assert merge(nodes(a=FAULT, b=FAULT)).nodes == NodesByState(passing=("a", "b"))


def test_of_one_node_alone_it_is_the_node_s() -> None:
    assert merge(nodes(a=FAULT, b="no answer within 60 s")).nodes == NodesByState(failing=("a",), unknown=("b",))


def test_a_silent_node_is_unknown_and_named() -> None:
    assert status(a=PASS, b="no answer within 60 s") == [
        ("ENV001", Status.PASS, "", []),
        ("SLM003", Status.UNKNOWN, "b: no answer within 60 s", []),
    ]
    merged = merge(nodes(a=PASS, b="no answer within 60 s"))
    assert merged.nodes == NodesByState(passing=("a",), unknown=("b",))
    assert merged.notes == ("node b is unknown: no answer within 60 s",)


def test_all_silent() -> None:
    assert status(a="x", b="x") == [("SLM003", Status.UNKNOWN, "a, b: x", [])]


def test_what_one_node_could_not_look_at_is_no_pass() -> None:
    assert status(a=PASS, b=UNKNOWN)[0] == ("ENV001", Status.UNKNOWN, "b: it hangs", [])
    assert merge(nodes(a=PASS, b=UNKNOWN)).nodes == NodesByState(passing=("a",), unknown=("b",))
    merged = merge(nodes(a=FAULT, b=UNKNOWN))
    assert (merged.outcomes[0].status, merged.notes) == (
        Status.FAIL,
        ("ENV001 is unknown on b: it hangs",),
    )


def test_drift_is_a_finding_of_slm003_beside_the_nodes_own() -> None:
    said: dict[str, NodeResult] = {
        node: NodeReport(node=node, outcomes=(READY,), traits={"ray": version})
        for node, version in (("a", "1"), ("b", "1"), ("c", "2"))
    }
    merged = merge(said)
    assert [finding.message for finding in merged.outcomes[0].findings] == ["ray differs: 2 on c; 2 of 3 nodes have 1"]
    assert merged.nodes == NodesByState(passing=("a", "b"), failing=("c",))


def test_a_warning_fails_a_node_only_where_warnings_count() -> None:
    said: dict[str, NodeResult] = {
        node: NodeReport(node=node, traits={"driver": version})
        for node, version in (("a", "1"), ("b", "1"), ("c", "2"))
    }
    assert merge(said).nodes == NodesByState(passing=("a", "b", "c"))
    assert merge(said, Severity.WARNING).nodes == NodesByState(passing=("a", "b"), failing=("c",))


def test_comparing_is_what_slm003_does_for_several_nodes() -> None:
    assert status(a=SKIP, b=SKIP) == [("SLM003", Status.PASS, "", [])]
