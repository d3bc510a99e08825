"""The report of one node, written and read as JSON."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Outcome
from skyrl_doctor.core.record import record
from skyrl_doctor.report.json import as_data, encode
from skyrl_doctor.report.model import Report
from skyrl_doctor.report.read import outcomes
from skyrl_train.contracts.typed import FormatError, parse_object

SCHEMA = 1


@record
class Clock:
    """Offset of this node's clock from the first node's, and the error of measurement, in seconds."""

    offset_s: float
    error_s: float


@record(kw_only=True)
class NodeReport:
    """One node's outcomes, the traits to compare, and the reason if it cannot connect to the first node."""

    node: str
    outcomes: tuple[Outcome, ...] = ()
    roles: tuple[str, ...] = ("gpu",)
    dialect: str = "none"
    traits: Mapping[str, str] = field(default_factory=dict)
    clock: Clock | None = None
    unreached: str = ""


@record
class NoReport:
    """A node without a report, and the reason."""

    reason: str


NodeResult = NodeReport | NoReport


def write(node: str, report: Report, *, clock: Clock | None, unreached: str) -> str:
    """The JSON text of a node's report."""
    measured = None if clock is None else {"offset_s": clock.offset_s, "error_s": clock.error_s}
    rest = {"traits": dict(report.traits), "clock": measured, "unreached": unreached}
    return encode({"schema": SCHEMA, "node": node, "report": as_data(report), **rest})


def read(text: str, node: str) -> NodeReport:
    """Parses a node's report. Raises CouldNotLook."""
    try:
        found = parse_object(text)
        schema, sender = found.value("schema"), found.value("node")
        if schema != SCHEMA or sender != node:
            raise CouldNotLook(f"it has schema {schema} and is of node {sender}")
        report, clock = found.inner("report"), found.inner_or_none("clock")
        return NodeReport(
            node=node,
            outcomes=outcomes(report),
            roles=tuple(report.text("role").split("+")),
            dialect=report.inner("target").text("dialect"),
            traits=found.named_texts("traits"),
            clock=None if clock is None else Clock(clock.number("offset_s"), clock.number("error_s")),
            unreached=found.text("unreached"),
        )
    except FormatError as error:
        raise CouldNotLook(f"not a node report: {error}") from None
