"""SLM003: finds differences between the nodes of a job. The majority's value is right; without a majority all are named."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.nodes.node_report import NodeReport
from skyrl_doctor.nodes.traits import DEVICES

FATAL = ("ray", "python", "torch", "verl", "vllm", DEVICES)
"""Ray refuses another version of Ray or Python; verl needs the same number of GPUs on every node, NCCL the same type."""
CLOCK_LIMIT_S = 1.0
"""With a larger offset, log lines and verdicts of two nodes have no certain order."""
MOST_NAMED = 8
VARIABLE, UNSET = "$", "unset"
"""Prefix of a trait that is a variable, and the value of an unset variable."""


@record
class Difference:
    """A finding, and the nodes that differ from the majority; none if there is no majority."""

    finding: Finding
    nodes: tuple[str, ...]


def drift(reports: Sequence[NodeReport]) -> Iterator[Difference]:
    """Differences of traits, then of clocks, then nodes that cannot connect to the first node."""
    names = dict.fromkeys(name for report in reports for name in report.traits)
    for name in names:
        seen = {report.node: value for report in reports if (value := _value(report, name)) is not None}
        if len(set(seen.values())) > 1:
            yield _trait(name, seen)
    yield from _clocks(reports)
    yield from _unreached(reports)


def _value(report: NodeReport, name: str) -> str | None:
    """The trait of a node; None if it was not gathered. A missing variable is unset if the node reported variables."""
    has_variables = any(known.startswith(VARIABLE) for known in report.traits)
    return report.traits.get(name, UNSET if name.startswith(VARIABLE) and has_variables else None)


def _trait(name: str, seen: Mapping[str, str]) -> Difference:
    severity = Severity.ERROR if name in FATAL else Severity.WARNING
    (value, count), *rest = Counter(seen.values()).most_common(2)
    if count == rest[0][1]:
        sides = "; ".join(f"{text} on {_named(nodes)}" for text, nodes in _by_value(seen).items())
        return Difference(_finding(f"{name} differs: {sides}; it must be equal on all nodes", severity, ()), ())
    odd = tuple(node for node, text in seen.items() if text != value)
    sides = "; ".join(f"{text} on {_named(nodes)}" for text, nodes in _by_value(seen).items() if text != value)
    message = f"{name} differs: {sides}; {count} of {len(seen)} nodes have {value}"
    return Difference(_finding(message, severity, odd), odd)


def _clocks(reports: Sequence[NodeReport]) -> Iterator[Difference]:
    """Clocks that differ from the median by more than the limit and the error of measurement."""
    known = {report.node: report.clock for report in reports if report.clock is not None}
    if len(known) < 2:
        return
    middle = median(clock.offset_s for clock in known.values())
    off = {node: clock.offset_s - middle for node, clock in known.items()}
    late = [node for node, clock in known.items() if abs(off[node]) - clock.error_s > _limit(len(known))]
    if not late:
        return
    if len(known) == 2:
        first, second = known
        apart = abs(off[first] - off[second])
        message = f"the clocks of {first} and {second} are {apart:.1f} s apart"
        yield Difference(_finding(f"{message}; the limit is {CLOCK_LIMIT_S:g} s", Severity.WARNING, ()), ())
        return
    offsets = ", ".join(f"{node} by {off[node]:+.1f} s" for node in late[:MOST_NAMED])
    message = f"clocks differ from the other nodes: {offsets}; the limit is {CLOCK_LIMIT_S:g} s"
    yield Difference(_finding(message, Severity.WARNING, tuple(late)), tuple(late))


def _limit(count: int) -> float:
    """The largest offset from the median. With two clocks each has half of their difference."""
    return CLOCK_LIMIT_S / 2 if count == 2 else CLOCK_LIMIT_S


def _unreached(reports: Sequence[NodeReport]) -> Iterator[Difference]:
    for report in reports:
        if report.unreached:
            message = f"{report.node} cannot connect to the first node of the job ({report.unreached})"
            yield Difference(
                _finding(f"{message}; Ray needs this connection", Severity.ERROR, (report.node,)), (report.node,)
            )


def _finding(message: str, severity: Severity, odd: tuple[str, ...]) -> Finding:
    return Finding(message=message, severity=severity, remedy=exclude(odd) if odd else _ask_admin())


def exclude(nodes: Sequence[str]) -> Remedy:
    """The remedy to submit without these nodes."""
    return Remedy(
        kind=RemedyKind.EXCLUDE_NODE,
        summary="submit without these nodes until they match the others",
        commands=(f"sbatch --exclude={','.join(nodes)} …",),
        settings={"slurm.exclude": "[" + ", ".join(f'"{node}"' for node in nodes) + "]"},
    )


def _ask_admin() -> Remedy:
    return Remedy(kind=RemedyKind.ASK_ADMIN, summary="find out which node is right and exclude the others")


def _by_value(seen: Mapping[str, str]) -> dict[str, list[str]]:
    sides: dict[str, list[str]] = {}
    for node, value in seen.items():
        sides.setdefault(value, []).append(node)
    return sides


def _named(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - MOST_NAMED} more" if len(nodes) > MOST_NAMED else ""
    return ", ".join(nodes[:MOST_NAMED]) + more
