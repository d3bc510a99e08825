"""SLM003: what differs between the nodes of one job. The value of the most is the right one; without such, all are named."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.nodes.node_report import Letter
from skyrl_doctor.nodes.traits import DEVICES

FATAL = ("ray", "python", "torch", "verl", "vllm", DEVICES)
"""Ray refuses another Ray or Python; verl wants as many GPUs of every node, and NCCL like ones."""
CLOCK_LIMIT_S = 1.0
"""Beyond this, log lines and verdicts of two nodes cannot be put in order."""
MOST_NAMED = 8
VARIABLE, UNSET = "$", "unset"
"""How the name of a trait begins that is a variable, and its value where it is none."""


@record
class Odd:
    """A finding, and the nodes that are on the wrong side of it: none where nobody knows which side that is."""

    finding: Finding
    nodes: tuple[str, ...]


def drift(letters: Sequence[Letter]) -> Iterator[Odd]:
    """Every trait in which the nodes differ, then their clocks, then those that do not reach the asker."""
    names = dict.fromkeys(name for letter in letters for name in letter.traits)
    for name in names:
        seen = {letter.node: value for letter in letters if (value := _value(letter, name)) is not None}
        if len(set(seen.values())) > 1:
            yield _trait(name, seen)
    yield from _clocks(letters)
    yield from _unreached(letters)


def _value(letter: Letter, name: str) -> str | None:
    """None where the node did not look. A variable that it has not is unset, where it told its variables at all."""
    tells_variables = any(known.startswith(VARIABLE) for known in letter.traits)
    return letter.traits.get(name, UNSET if name.startswith(VARIABLE) and tells_variables else None)


def _trait(name: str, seen: Mapping[str, str]) -> Odd:
    severity = Severity.ERROR if name in FATAL else Severity.WARNING
    (value, count), *rest = Counter(seen.values()).most_common(2)
    if count == rest[0][1]:
        sides = "; ".join(f"{said} on {_named(nodes)}" for said, nodes in _by_value(seen).items())
        return Odd(_finding(f"{name} differs: {sides}; wanted one value on every node", severity, ()), ())
    odd = tuple(node for node, said in seen.items() if said != value)
    sides = "; ".join(f"{said} on {_named(nodes)}" for said, nodes in _by_value(seen).items() if said != value)
    message = f"{name} differs: {sides}; wanted {value}, as on {count} of {len(seen)} nodes"
    return Odd(_finding(message, severity, odd), odd)


def _clocks(letters: Sequence[Letter]) -> Iterator[Odd]:
    """Against the median, and only as far as the measurement cannot be wrong."""
    known = {letter.node: letter.clock for letter in letters if letter.clock is not None}
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
        yield Odd(_finding(f"{message}; wanted at most {CLOCK_LIMIT_S:g} s", Severity.WARNING, ()), ())
        return
    shown = ", ".join(f"{node} by {off[node]:+.1f} s" for node in late[:MOST_NAMED])
    message = f"clocks differ from the others: {shown}; wanted at most {CLOCK_LIMIT_S:g} s"
    yield Odd(_finding(message, Severity.WARNING, tuple(late)), tuple(late))


def _limit(count: int) -> float:
    """Of two clocks each is half of the way from their median."""
    return CLOCK_LIMIT_S / 2 if count == 2 else CLOCK_LIMIT_S


def _unreached(letters: Sequence[Letter]) -> Iterator[Odd]:
    for letter in letters:
        if letter.unreached:
            message = f"{letter.node} does not reach the first node of the job: {letter.unreached}"
            wanted = "wanted a connection, since every node of Ray keeps one"
            yield Odd(_finding(f"{message}; {wanted}", Severity.ERROR, (letter.node,)), (letter.node,))


def _finding(message: str, severity: Severity, odd: tuple[str, ...]) -> Finding:
    return Finding(message=message, severity=severity, remedy=exclude(odd) if odd else _ask())


def exclude(nodes: Sequence[str]) -> Remedy:
    """To submit without these nodes."""
    return Remedy(
        kind=RemedyKind.EXCLUDE_NODE,
        summary="submit without them until they are as the others",
        commands=(f"sbatch --exclude={','.join(nodes)} …",),
        settings={"slurm.exclude": "[" + ", ".join(f'"{node}"' for node in nodes) + "]"},
    )


def _ask() -> Remedy:
    return Remedy(
        kind=RemedyKind.ASK_ADMIN, summary="find out which of them is as it should be, and exclude the others"
    )


def _by_value(seen: Mapping[str, str]) -> dict[str, list[str]]:
    sides: dict[str, list[str]] = {}
    for node, value in seen.items():
        sides.setdefault(value, []).append(node)
    return sides


def _named(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - MOST_NAMED} more" if len(nodes) > MOST_NAMED else ""
    return ", ".join(nodes[:MOST_NAMED]) + more
