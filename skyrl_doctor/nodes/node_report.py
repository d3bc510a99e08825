"""The report of one node, written and read as JSON."""

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Outcome
from skyrl_doctor.core.record import record
from skyrl_doctor.report.json import as_data, encode
from skyrl_doctor.report.model import Report
from skyrl_doctor.report.read import outcomes

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
        data: Any = json.loads(text)
        if data["schema"] != SCHEMA or data["node"] != node:
            raise CouldNotLook(f"it has schema {data['schema']} and is of node {data['node']}")
        clock, traits = data["clock"], data["traits"]
        return NodeReport(
            node=node,
            outcomes=outcomes(data["report"]),
            roles=tuple(str(data["report"]["role"]).split("+")),
            dialect=str(data["report"]["target"]["dialect"]),
            traits={str(name): str(value) for name, value in traits.items()},
            clock=None if clock is None else Clock(float(clock["offset_s"]), float(clock["error_s"])),
            unreached=str(data["unreached"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CouldNotLook(f"not a node report: {type(error).__name__}: {error}") from None
