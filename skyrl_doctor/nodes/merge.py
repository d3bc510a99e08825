"""Many nodes' letters as one report, and which nodes may run. Pure."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from skyrl_doctor.core.engine import exit_code
from skyrl_doctor.core.model import Finding, Outcome, Severity, Status
from skyrl_doctor.core.record import record
from skyrl_doctor.nodes.drift import Odd, drift
from skyrl_doctor.nodes.node_report import Answer, Letter, Silence

ID, SLUG = "SLM003", "multinode-not-ready"


@record(kw_only=True)
class Sorted:
    """The nodes by what is known of them; each is in one list."""

    passing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@record
class Merged:
    """One outcome a check for all nodes, sentences about single nodes, and the nodes by their state."""

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    nodes: Sorted


def merge(answers: Mapping[str, Answer], fail_on: Severity = Severity.ERROR) -> Merged:
    """`answers` has every node of the job, in the job's order."""
    letters = [answer for answer in answers.values() if isinstance(answer, Letter)]
    silent = {node: answer.reason for node, answer in answers.items() if isinstance(answer, Silence)}
    odds = tuple(drift(letters))
    ids = sorted({outcome.id for letter in letters for outcome in letter.outcomes} | {ID})
    made = tuple(_across(id_, letters, odds if id_ == ID else (), silent if id_ == ID else {}) for id_ in ids)
    return Merged(made, tuple(_notes(letters, silent)), _sorted(answers, letters, odds, fail_on))


def _across(id_: str, letters: Sequence[Letter], odds: Sequence[Odd], silent: Mapping[str, str]) -> Outcome:
    """The worst of what the nodes say of one check."""
    said = {letter.node: outcome for letter in letters for outcome in letter.outcomes if outcome.id == id_}
    statuses = [outcome.status for outcome in said.values()]
    found = (*_findings(said, len(letters)), *(odd.finding for odd in odds))
    unseen = {node: outcome.reason for node, outcome in said.items() if outcome.status is Status.UNKNOWN} | dict(silent)
    first = next(iter(said.values()), Outcome(id=ID, slug=SLUG, status=Status.PASS))
    if found:
        return dataclasses.replace(first, status=Status.FAIL, findings=found, reason="")
    if unseen:
        return dataclasses.replace(first, status=Status.UNKNOWN, findings=(), reason=_by_reason(unseen))
    if Status.SKIP in statuses and (id_ != ID or len(letters) < 2):
        skipped = next(outcome for outcome in said.values() if outcome.status is Status.SKIP)
        passed = next((outcome for outcome in said.values() if outcome.status is Status.PASS), None)
        return passed or skipped
    return dataclasses.replace(first, status=Status.PASS, findings=(), reason="")


def _findings(said: Mapping[str, Outcome], total: int) -> Iterator[Finding]:
    """Each fault once, with the nodes that have it; without them where all have it, since it is not a node's then."""
    having: dict[tuple[Severity, str], list[str]] = {}
    first: dict[tuple[Severity, str], Finding] = {}
    for node, outcome in said.items():
        for finding in outcome.findings if outcome.status is Status.FAIL else ():
            key = (finding.severity, finding.message)
            first.setdefault(key, finding)
            having.setdefault(key, []).append(node)
    for key, finding in first.items():
        nodes = having[key]
        everywhere = len(nodes) == total and total > 1
        yield finding if everywhere else dataclasses.replace(finding, message=f"{', '.join(nodes)}: {finding.message}")


def _by_reason(unseen: Mapping[str, str]) -> str:
    nodes: dict[str, list[str]] = {}
    for node, reason in unseen.items():
        nodes.setdefault(reason, []).append(node)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in nodes.items())


def _notes(letters: Sequence[Letter], silent: Mapping[str, str]) -> Iterator[str]:
    """What an outcome that fails has no room for."""
    for node, reason in silent.items():
        yield f"node {node} is unknown: {reason}"
    for letter in letters:
        for outcome in letter.outcomes:
            if outcome.status is Status.UNKNOWN:
                yield f"{outcome.id} could not look on {letter.node}: {outcome.reason}"


def _sorted(answers: Mapping[str, Answer], letters: Sequence[Letter], odds: Sequence[Odd], fail_on: Severity) -> Sorted:
    """A fault that every node has is the configuration's or the job's: excluding nodes would not help."""
    codes = {letter.node: exit_code(_own(letter, letters), fail_on) for letter in letters}
    for odd in odds:
        codes |= dict.fromkeys(odd.nodes, 1) if odd.finding.severity >= fail_on else {}
    return Sorted(
        passing=tuple(node for node in answers if codes.get(node) == 0),
        failing=tuple(node for node in answers if codes.get(node) == 1),
        unknown=tuple(node for node in answers if codes.get(node, 3) == 3),
    )


def _own(letter: Letter, letters: Sequence[Letter]) -> list[Outcome]:
    """A node's outcomes without the faults that all nodes have."""
    common = set.intersection(*(_faults(one) for one in letters)) if len(letters) > 1 else set()
    kept = []
    for outcome in letter.outcomes:
        left = tuple(one for one in outcome.findings if (outcome.id, one.message) not in common)
        gone = outcome.status is Status.FAIL and not left
        kept.append(dataclasses.replace(outcome, findings=left, status=Status.PASS if gone else outcome.status))
    return kept


def _faults(letter: Letter) -> set[tuple[str, str]]:
    return {(outcome.id, one.message) for outcome in letter.outcomes for one in outcome.findings}
