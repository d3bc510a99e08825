"""What one node found, on its way to the node that asked."""

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
    """How far this node's clock is ahead of the asker's, and how far that may be wrong, in seconds."""

    offset_s: float
    error_s: float


@record(kw_only=True)
class Letter:
    """One node's report, what of it is compared with the others', and whether it reached the asker over the network."""

    node: str
    outcomes: tuple[Outcome, ...] = ()
    roles: tuple[str, ...] = ("gpu",)
    dialect: str = "none"
    traits: Mapping[str, str] = field(default_factory=dict)
    clock: Clock | None = None
    unreached: str = ""


@record
class Silence:
    """A node that did not answer, and why nobody knows more."""

    reason: str


Answer = Letter | Silence


def write(node: str, report: Report, *, clock: Clock | None, unreached: str) -> str:
    """The text of a node's letter."""
    told = None if clock is None else {"offset_s": clock.offset_s, "error_s": clock.error_s}
    rest = {"traits": dict(report.traits), "clock": told, "unreached": unreached}
    return encode({"schema": SCHEMA, "node": node, "report": as_data(report), **rest})


def read(text: str, node: str) -> Letter:
    """Raises CouldNotLook where the text is not this node's whole letter."""
    try:
        found = parse_object(text)
        schema, sender = found.value("schema"), found.value("node")
        if schema != SCHEMA or sender != node:
            raise CouldNotLook(f"it is of schema {schema} and of node {sender}")
        report, clock = found.inner("report"), found.inner_or_none("clock")
        return Letter(
            node=node,
            outcomes=outcomes(report),
            roles=tuple(report.text("role").split("+")),
            dialect=report.inner("target").text("dialect"),
            traits=found.named_texts("traits"),
            clock=None if clock is None else Clock(clock.number("offset_s"), clock.number("error_s")),
            unreached=found.text("unreached"),
        )
    except FormatError as error:
        raise CouldNotLook(str(error)) from None
