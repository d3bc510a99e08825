"""The site announces a maintenance.

## What it does
Reads the message of the day.

## Why it breaks training
The nodes go down.

## How to fix
Wait.

## Example
    maintenance at noon
"""

from collections.abc import Iterator

from doctor_extra.probes import Motd
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"\bbroadcast message: .{0,80}maintenance",
        sample="gpu07: broadcast message: rebooting for maintenance",
        explain="the site rebooted the node for a maintenance",
        versions="wall",
    ),
)


@check("SITE001", fix="operator: the site's own calendar")
def maintenance_announced(motd: Motd) -> Iterator[Finding]:
    if "maintenance" in motd.text:
        yield Finding(message=f"the site says {motd.text!r}; wanted no maintenance")
